#include "net/auth/aws_chunked.h"

#include <openssl/crypto.h>

#include <charconv>
#include <memory>

#include "base/digest.h"
#include "base/pattern.h"
#include "base/text.h"
#include "net/auth/signing_key.h"

namespace redrive::auth {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kExtension = "chunk-signature=";
constexpr std::size_t kTrailerBytesMax = 8u << 10;
constexpr std::string_view kTrailerSignature = "x-amz-trailer-signature";

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorCode::malformed_request, std::move(message));
}

// Verifies the chain of signatures from the request to the trailer.
class SignatureChain {
 public:
  explicit SignatureChain(const ChunkSigning& signing)
      : claim_(signing.claim),
        key_(signing_key(signing.claim.scope, signing.secret_key)),
        previous_(signing.claim.signature) {}

  Result<void> check_chunk(std::string_view data, std::string_view signature) {
    return check("AWS4-HMAC-SHA256-PAYLOAD", sha256_hex("") + "\n" + sha256_hex(data), signature);
  }
  Result<void> check_trailer(std::string_view lines, std::string_view signature) {
    return check("AWS4-HMAC-SHA256-TRAILER", sha256_hex(lines), signature);
  }

 private:
  Result<void> check(std::string_view algorithm, const std::string& digests,
                     std::string_view signature) {
    std::string text(algorithm);
    text.append("\n").append(claim_.date_text).append("\n").append(claim_.scope.date);
    text.append("/").append(claim_.scope.region).append("/").append(claim_.scope.service);
    text.append("/aws4_request\n").append(previous_).append("\n").append(digests);
    const Sha256 sum = key_.sum(text);
    const std::string expected = to_hex({reinterpret_cast<const char*>(sum.data()), sum.size()});
    const bool equal = expected.size() == signature.size() &&
                       CRYPTO_memcmp(expected.data(), signature.data(), expected.size()) == 0;
    if (!equal) {
      return fail(ErrorCode::signature_does_not_match,
                  "The signature of a chunk does not match its contents.");
    }
    previous_ = expected;
    return {};
  }

  const Claim& claim_;
  const HmacSha256Key key_;
  std::string previous_;
};

class Reader {
 public:
  Reader(std::string_view body, const std::optional<ChunkSigning>& signing) : rest_(body) {
    if (signing) chain_ = std::make_unique<SignatureChain>(*signing);
  }

  Result<std::string> read(std::size_t decoded_bytes) {
    std::string out;
    while (true) {
      const Head head = TRY(read_head());
      if (head.bytes > decoded_bytes - out.size()) {
        return malformed("The chunks contain more than X-Amz-Decoded-Content-Length.");
      }
      const std::string_view data = TRY(take(head.bytes));
      if (chain_) RETURN_IF_ERROR(chain_->check_chunk(data, head.signature));
      if (head.bytes == 0) break;
      out += data;
      if (TRY(take(kLineEnd.size())) != kLineEnd) return malformed("A chunk is not terminated.");
    }
    RETURN_IF_ERROR(read_trailer());
    if (out.size() == decoded_bytes) return out;
    return malformed("The chunks contain less than X-Amz-Decoded-Content-Length.");
  }

  Trailers take_trailers() { return std::move(trailers_); }

 private:
  struct Head {
    std::size_t bytes = 0;
    std::string_view signature;
  };

  Result<std::string_view> take(std::size_t bytes) {
    if (bytes > rest_.size()) return malformed("The body ends within a chunk.");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  Result<std::string_view> take_line() {
    const std::size_t end = rest_.find(kLineEnd);
    if (end == std::string_view::npos) return malformed("The body ends within a line.");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + kLineEnd.size());
    return line;
  }

  Result<Head> read_head() {
    const std::string_view line = TRY(take_line());
    const std::size_t semicolon = line.find(';');
    const std::string_view digits = line.substr(0, semicolon);
    Head head;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), head.bytes, 16);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
      return malformed("A chunk must begin with its size in hexadecimal digits.");
    }
    if (semicolon != std::string_view::npos) {
      const std::string_view extension = line.substr(semicolon + 1);
      if (extension.starts_with(kExtension)) head.signature = extension.substr(kExtension.size());
    }
    return head;
  }

  // Lines `name:value` up to an empty one, which some clients omit.
  Result<void> read_trailer() {
    std::string lines;
    std::string_view signature;
    std::size_t bytes = 0;
    while (!rest_.empty()) {
      const std::string_view line = TRY(take_line());
      if (line.empty()) break;
      bytes += line.size() + kLineEnd.size();
      if (bytes > kTrailerBytesMax) return malformed("The trailers are too large.");
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) return malformed("A trailer has no colon.");
      const std::string name = to_lower(line.substr(0, colon));
      if (name == kTrailerSignature) {
        signature = line.substr(colon + 1);
      } else {
        lines.append(name).append(":").append(line.substr(colon + 1)).append("\n");
        trailers_.emplace_back(name, line.substr(colon + 1));
      }
    }
    if (!chain_ || lines.empty()) return {};
    return chain_->check_trailer(lines, signature);
  }

  std::string_view rest_;
  Trailers trailers_;
  std::unique_ptr<SignatureChain> chain_;  // Null: unsigned chunks.
};

}  // namespace

Result<std::string> decode_aws_chunked(std::string_view body, std::size_t decoded_bytes,
                                       const std::optional<ChunkSigning>& signing,
                                       Trailers* trailers) {
  Reader reader(body, signing);
  auto contents = reader.read(decoded_bytes);
  if (trailers != nullptr) *trailers = reader.take_trailers();
  return contents;
}

}  // namespace redrive::auth
