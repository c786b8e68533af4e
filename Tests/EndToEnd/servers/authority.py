"""A private certificate authority, and a certificate of it for 127.0.0.1, made by `openssl`."""

import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, stdin=subprocess.DEVNULL)


class Authority:
    """`root` is the authority's own certificate, `certificate` and `key` are the server's."""

    def __init__(self, folder, name="IP:127.0.0.1"):
        folder.mkdir()
        self.root, self.certificate, self.key = (folder / f"{kind}.pem" for kind in ("root", "certificate", "key"))
        root_key = folder / "root-key.pem"
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
        openssl(
            "req", "-x509", *curve, "-subj", "/CN=thumbjob test authority", "-days", "2",
            "-addext", "keyUsage=critical,keyCertSign", "-keyout", root_key, "-out", self.root)
        request, extensions = folder / "request.pem", folder / "extensions"
        openssl("req", *curve, "-subj", "/CN=thumbjob test server", "-keyout", self.key, "-out", request)
        extensions.write_text(f"subjectAltName={name}\nbasicConstraints=CA:FALSE\n")
        openssl(
            "x509", "-req", "-in", request, "-CA", self.root, "-CAkey", root_key, "-days", "2", "-extfile", extensions,
            "-out", self.certificate)
