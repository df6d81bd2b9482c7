#include "wire/auth/rsa_key.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <sys/stat.h>

#include "base/error_codes.h"
#include "base/file.h"

namespace commitd::wire {

namespace {

constexpr int kBits = 2048;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

struct FreeContext {
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_PKEY_CTX, FreeContext>;

std::string content(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

using Step = int (*)(EVP_PKEY_CTX*);
using Transform = int (*)(EVP_PKEY_CTX*, unsigned char*, size_t*, const unsigned char*, size_t);

// Encrypts or decrypts with OAEP, the padding MySQL uses.
std::optional<std::string> transform(EVP_PKEY* key, Step start, Transform apply, std::string_view input) {
  Context context(EVP_PKEY_CTX_new(key, nullptr));
  if (!context || start(context.get()) <= 0) return std::nullopt;
  if (EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_OAEP_PADDING) <= 0) return std::nullopt;
  std::string output(static_cast<size_t>(EVP_PKEY_get_size(key)), '\0');
  size_t size = output.size();
  if (apply(context.get(), reinterpret_cast<unsigned char*>(output.data()), &size,
            reinterpret_cast<const unsigned char*>(input.data()), input.size()) <= 0) {
    return std::nullopt;
  }
  output.resize(size);
  return output;
}

}  // namespace

RsaKey::RsaKey(Key key) : key_(std::move(key)) {
  Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(bio.get(), key_.get());
  public_pem_ = content(bio.get());
}

Result<RsaKey> RsaKey::load_or_create(const std::string& directory) {
  FileSystem& fs = FileSystem::posix();
  std::string path = directory + "/private_key.pem";
  if (!fs.exists(path)) return create(path);
  auto pem = read_whole_file(fs, path);
  if (!pem.ok()) return std::move(pem).error();
  Bio bio(BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size())));
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (!key) {
    return make_error(er::kErrorOnRead,
                      "{} holds no private key; remove it and the server makes a new one at the next start",
                      path);
  }
  return RsaKey(std::move(key));
}

Result<RsaKey> RsaKey::create(const std::string& path) {
  Key key(EVP_RSA_gen(kBits));
  Bio bio(BIO_new(BIO_s_mem()));
  if (!key || !PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr)) {
    return make_error(er::kUnknownError, "Cannot make an RSA key for caching_sha2_password");
  }
  mode_t others = umask(0077);
  Status written = write_file_atomically(FileSystem::posix(), path, content(bio.get()));
  umask(others);
  if (!written.ok()) return std::move(written).error();
  return RsaKey(std::move(key));
}

std::optional<std::string> RsaKey::decrypt(std::string_view encrypted) const {
  return transform(key_.get(), EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, encrypted);
}

std::optional<std::string> rsa_encrypt(const std::string& public_pem, std::string_view plain) {
  Bio bio(BIO_new_mem_buf(public_pem.data(), static_cast<int>(public_pem.size())));
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
      PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  if (!key) return std::nullopt;
  return transform(key.get(), EVP_PKEY_encrypt_init, EVP_PKEY_encrypt, plain);
}

}  // namespace commitd::wire
