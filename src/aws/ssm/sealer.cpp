#include "aws/ssm/sealer.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/base64.h"
#include "base/text.h"

namespace redrive::ssm {
namespace {

// A sealed value: one byte of version, the nonce, the encrypted bytes, the tag.
constexpr char kVersion = 1;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

std::unexpected<Error> failed(std::string_view doing) {
  return fail(ErrorCode::internal_failure, "OpenSSL failed to " + std::string(doing) + ".");
}

std::unexpected<Error> io_failure(std::string_view doing, const std::filesystem::path& path) {
  return fail(ErrorCode::storage_io,
              std::string(doing) + " " + path.string() + ": " + std::strerror(errno));
}

std::unexpected<Error> cannot_open() {
  return fail(ErrorCode::storage_damaged,
              "The value was sealed with another key than the server has now, or is damaged.");
}

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}
std::uint8_t* bytes_of(std::string& text) {
  return reinterpret_cast<std::uint8_t*>(text.data());
}

// Closes a file descriptor at the end of its scope.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<void> sync_directory(const std::filesystem::path& directory) {
  const File file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) return io_failure("sync", directory);
  return {};
}

}  // namespace

Result<Sealer::Key> Sealer::read_key() const {
  std::ifstream file(key_file_, std::ios::binary);
  Key key;
  file.read(reinterpret_cast<char*>(key.data()), key.size());
  if (file.gcount() == static_cast<std::streamsize>(key.size()) && file.peek() == EOF) return key;
  return fail(ErrorCode::storage_damaged,
              key_file_.string() + " is not a key of 32 bytes; restore it from a backup.");
}

// Under a temporary name first: a crash must not leave half a key.
Result<Sealer::Key> Sealer::make_key() const {
  Key key;
  if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1) return failed("make a key");
  if (key_file_.empty()) return key;
  const std::filesystem::path temporary = key_file_.string() + ".new";
  ::unlink(temporary.c_str());  // What a crash left.
  {
    const File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0) return io_failure("create", temporary);
    const auto written = ::write(file.get(), key.data(), key.size());
    if (written != static_cast<ssize_t>(key.size()) || ::fsync(file.get()) != 0) {
      return io_failure("write", temporary);
    }
  }
  if (::rename(temporary.c_str(), key_file_.c_str()) != 0) return io_failure("create", key_file_);
  RETURN_IF_ERROR(sync_directory(key_file_.parent_path()));
  return key;
}

Result<Sealer::Key> Sealer::key(Missing missing) {
  const MutexLock lock(mutex_);
  if (key_) return *key_;
  const bool exists = !key_file_.empty() && std::filesystem::exists(key_file_);
  if (!exists && missing == Missing::fails) return cannot_open();
  key_ = TRY(exists ? read_key() : make_key());
  return *key_;
}

Result<std::string> Sealer::seal(std::string_view value, std::string_view bound_to) {
  const Key key = TRY(this->key(Missing::is_made));
  std::string out(1 + kNonceBytes + value.size() + kTagBytes, kVersion);
  std::uint8_t* const nonce = bytes_of(out) + 1;
  std::uint8_t* const encrypted = nonce + kNonceBytes;
  if (RAND_bytes(nonce, kNonceBytes) != 1) return failed("make a nonce");
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int size = 0;
  const bool done =
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key.data(), nonce) == 1 &&
      EVP_EncryptUpdate(
          context.get(), nullptr, &size, bytes_of(bound_to), static_cast<int>(bound_to.size())) ==
          1 &&
      EVP_EncryptUpdate(
          context.get(), encrypted, &size, bytes_of(value), static_cast<int>(value.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), encrypted + value.size(), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(
          context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, encrypted + value.size()) == 1;
  if (!done) return failed("seal a value");
  return base64_encode(out);
}

Result<std::string> Sealer::open(std::string_view sealed, std::string_view bound_to) {
  const auto decoded = base64_decode(sealed);
  constexpr std::size_t kAround = 1 + kNonceBytes + kTagBytes;
  if (!decoded || decoded->size() < kAround || decoded->front() != kVersion) return cannot_open();
  const Key key = TRY(this->key(Missing::fails));
  const std::string_view bytes = *decoded;
  const std::string_view encrypted = bytes.substr(1 + kNonceBytes, bytes.size() - kAround);
  std::string tag(bytes.substr(bytes.size() - kTagBytes));
  std::string value(encrypted.size(), '\0');
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int size = 0;
  const bool done =
      EVP_DecryptInit_ex(
          context.get(), EVP_aes_256_gcm(), nullptr, key.data(), bytes_of(bytes) + 1) == 1 &&
      EVP_DecryptUpdate(
          context.get(), nullptr, &size, bytes_of(bound_to), static_cast<int>(bound_to.size())) ==
          1 &&
      EVP_DecryptUpdate(context.get(),
                        bytes_of(value),
                        &size,
                        bytes_of(encrypted),
                        static_cast<int>(encrypted.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(value) + value.size(), &size) == 1;
  if (!done) return cannot_open();
  return value;
}

}  // namespace redrive::ssm
