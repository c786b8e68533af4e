"""JPEG files of libjpeg's own encoder."""

import subprocess


def encoded(pnm, *options):
    """A JPEG file of a picture in the format of PGM or PPM."""
    return subprocess.run(["cjpeg", *options], input=pnm, capture_output=True, check=True).stdout


def ppm(width, height, rgb):
    """A picture in the format PPM."""
    return b"P6 %d %d 255\n" % (width, height) + rgb
