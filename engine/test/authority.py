"""Certificates for tests: an authority, and what it signs."""

import datetime
import os

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)


def named(name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


class Authority:
    def __init__(self, directory, name):
        self.directory, self.name = directory, name
        self.secret = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self.write("ca.pem", self.signed(name, self.secret, x509.BasicConstraints(ca=True, path_length=None)))

    def path(self, file):
        return os.path.join(self.directory, f"{self.name}-{file}")

    def write(self, file, certificate):
        with open(self.path(file), "wb") as out:
            out.write(certificate.public_bytes(serialization.Encoding.PEM))
        return self.path(file)

    def signed(self, subject, secret, *extensions):
        now = datetime.datetime.utcnow()
        builder = (x509.CertificateBuilder().subject_name(named(subject)).issuer_name(named(self.name))
                   .public_key(secret.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(now - DAY).not_valid_after(now + 2 * DAY))
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.secret, hashes.SHA256())

    def sign(self, dns_name):
        """The paths of a certificate for this name, of a server and of a client, and of its key."""
        secret = ec.generate_private_key(ec.SECP256R1())
        certificate = self.signed(dns_name, secret, x509.SubjectAlternativeName([x509.DNSName(dns_name)]),
                                  x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]))
        with open(self.path(f"{dns_name}-key.pem"), "wb") as out:
            out.write(secret.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        return self.write(f"{dns_name}.pem", certificate), self.path(f"{dns_name}-key.pem")
