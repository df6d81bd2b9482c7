#include "wire/tls/certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "base/error_codes.h"
#include "base/file.h"

namespace commitd::wire {

namespace {

constexpr long kTenYears = 10L * 365 * 24 * 60 * 60;

template <auto free_function>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

struct Identity {
  Key key;
  Certificate certificate;
};

std::string content(const Bio& bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

bool extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  Extension extension(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_random_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return false;
  bytes[0] &= 0x7f;
  std::unique_ptr<BIGNUM, Free<BN_free>> number(BN_bin2bn(bytes, sizeof(bytes), nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_name(X509* certificate, const std::string& role) {
  std::string name = "commitd_Auto_Generated_" + role + "_Certificate";
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1;
}

// The names under which clients may reach the server and still check whom they talk to.
std::string names_of_this_host() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return std::string("DNS:localhost,IP:127.0.0.1,IP:::1,DNS:") + host;
}

bool add_extensions(X509* certificate, X509* issuer, const std::string& role) {
  bool done = extend(certificate, issuer, NID_subject_key_identifier, "hash") &&
              extend(certificate, issuer, NID_authority_key_identifier, "keyid");
  if (role == "CA") {
    return done && extend(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
           extend(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  done = done && extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         extend(certificate, issuer, NID_ext_key_usage, role == "Server" ? "serverAuth" : "clientAuth");
  return role == "Server" ? done && extend(certificate, issuer, NID_subject_alt_name, names_of_this_host())
                          : done;
}

// `issuer`: null for the CA, which signs itself.
Result<Identity> make_identity(const std::string& role, const Identity* issuer) {
  Identity made{Key(EVP_EC_gen("P-256")), Certificate(X509_new())};
  X509* certificate = made.certificate.get();
  X509* signer = issuer ? issuer->certificate.get() : certificate;
  EVP_PKEY* signing_key = issuer ? issuer->key.get() : made.key.get();
  constexpr long kVersion3 = 2;
  if (made.key && certificate && X509_set_version(certificate, kVersion3) == 1 &&
      set_random_serial(certificate) && X509_gmtime_adj(X509_getm_notBefore(certificate), 0) &&
      X509_gmtime_adj(X509_getm_notAfter(certificate), kTenYears) && set_name(certificate, role) &&
      X509_set_issuer_name(certificate, X509_get_subject_name(signer)) == 1 &&
      X509_set_pubkey(certificate, made.key.get()) == 1 && add_extensions(certificate, signer, role) &&
      X509_sign(certificate, signing_key, EVP_sha256()) > 0) {
    return made;
  }
  return make_error(er::kSslLibraryError, "Cannot make a certificate for TLS ({})", role);
}

// Keys are for the server's own user alone.
Status write_private(const std::string& path, const std::string& bytes) {
  mode_t others = umask(0077);
  Status written = write_file_atomically(FileSystem::posix(), path, bytes);
  umask(others);
  return written;
}

Status store(const Identity& identity, const std::string& certificate_path, const std::string& key_path) {
  Bio key(BIO_new(BIO_s_mem())), certificate(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(key.get(), identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(certificate.get(), identity.certificate.get()) != 1) {
    return make_error(er::kSslLibraryError, "Cannot write '{}'", certificate_path);
  }
  COMMITD_RETURN_IF_ERROR(write_private(key_path, content(key)));
  return write_file_atomically(FileSystem::posix(), certificate_path, content(certificate));
}

}  // namespace

Status make_certificates(const std::string& directory) {
  FileSystem& fs = FileSystem::posix();
  for (const char* name : {"/ca.pem", "/server-cert.pem", "/server-key.pem"}) {
    if (fs.exists(directory + name)) return {};
  }
  auto ca = make_identity("CA", nullptr);
  if (!ca.ok()) return std::move(ca).error();
  auto server = make_identity("Server", &*ca);
  if (!server.ok()) return std::move(server).error();
  auto client = make_identity("Client", &*ca);
  if (!client.ok()) return std::move(client).error();
  // ca.pem comes last: once it is there, all is.
  COMMITD_RETURN_IF_ERROR(store(*server, directory + "/server-cert.pem", directory + "/server-key.pem"));
  COMMITD_RETURN_IF_ERROR(store(*client, directory + "/client-cert.pem", directory + "/client-key.pem"));
  return store(*ca, directory + "/ca.pem", directory + "/ca-key.pem");
}

}  // namespace commitd::wire
