"""JPEG files, encoded by libjpeg's own `cjpeg`."""

import subprocess


def ppm(width, height, samples):
    """A picture of three samples a pixel in the format that `cjpeg` reads."""
    return b"P6 %d %d 255\n" % (width, height) + samples


def encoded(picture, *options):
    """The bytes of a file. - parameter picture: in a format that `cjpeg` reads."""
    # Its warnings on standard error are not those of the tests.
    return subprocess.run(["cjpeg", *options], input=picture, capture_output=True, check=True).stdout
