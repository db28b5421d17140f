#include "dead_letters/triage/secret_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "dead_letters/triage/characters.h"

namespace redrive::triage {
namespace {

constexpr auto kSecretParts = std::to_array<std::string_view>({
    "password",      "passwd",     "passphrase",     "passcode",         "secret",
    "authorization", "apikey",     "accesskey",      "privatekey",       "signingkey",
    "cookie",        "credential", "sessionid",      "cardnumber",       "cardno",
    "creditcard",    "cvv",        "socialsecurity", "connectionstring",
});
constexpr auto kSecretWhole = std::to_array<std::string_view>({
    "pwd",
    "pass",
    "pin",
    "auth",
    "cvc",
    "ssn",
    "ssnno",
    "jwt",
    "bearer",
    "pan",
    "otp",
});

// Homoglyphs of Latin letters in other scripts and with diacritics. From the confusables of Unicode
// TR 39 and from compatibility decompositions, sorted by code point.
struct Lookalike {
  std::uint16_t code;
  char letter;
};
// clang-format off
constexpr auto kLookalikes = std::to_array<Lookalike>({
    {0x00c0, 'a'}, {0x00c1, 'a'}, {0x00c2, 'a'}, {0x00c3, 'a'}, {0x00c4, 'a'}, {0x00c5, 'a'},
    {0x00c7, 'c'}, {0x00c8, 'e'}, {0x00c9, 'e'}, {0x00ca, 'e'}, {0x00cb, 'e'}, {0x00cc, 'i'},
    {0x00cd, 'i'}, {0x00ce, 'i'}, {0x00cf, 'i'}, {0x00d1, 'n'}, {0x00d2, 'o'}, {0x00d3, 'o'},
    {0x00d4, 'o'}, {0x00d5, 'o'}, {0x00d6, 'o'}, {0x00d8, 'o'}, {0x00d9, 'u'}, {0x00da, 'u'},
    {0x00db, 'u'}, {0x00dc, 'u'}, {0x00dd, 'y'}, {0x00e0, 'a'}, {0x00e1, 'a'}, {0x00e2, 'a'},
    {0x00e3, 'a'}, {0x00e4, 'a'}, {0x00e5, 'a'}, {0x00e7, 'c'}, {0x00e8, 'e'}, {0x00e9, 'e'},
    {0x00ea, 'e'}, {0x00eb, 'e'}, {0x00ec, 'i'}, {0x00ed, 'i'}, {0x00ee, 'i'}, {0x00ef, 'i'},
    {0x00f1, 'n'}, {0x00f2, 'o'}, {0x00f3, 'o'}, {0x00f4, 'o'}, {0x00f5, 'o'}, {0x00f6, 'o'},
    {0x00f8, 'o'}, {0x00f9, 'u'}, {0x00fa, 'u'}, {0x00fb, 'u'}, {0x00fc, 'u'}, {0x00fd, 'y'},
    {0x00ff, 'y'}, {0x0100, 'a'}, {0x0101, 'a'}, {0x0102, 'a'}, {0x0103, 'a'}, {0x0104, 'a'},
    {0x0105, 'a'}, {0x0106, 'c'}, {0x0107, 'c'}, {0x0108, 'c'}, {0x0109, 'c'}, {0x010a, 'c'},
    {0x010b, 'c'}, {0x010c, 'c'}, {0x010d, 'c'}, {0x010e, 'd'}, {0x010f, 'd'}, {0x0110, 'd'},
    {0x0111, 'd'}, {0x0112, 'e'}, {0x0113, 'e'}, {0x0114, 'e'}, {0x0115, 'e'}, {0x0116, 'e'},
    {0x0117, 'e'}, {0x0118, 'e'}, {0x0119, 'e'}, {0x011a, 'e'}, {0x011b, 'e'}, {0x011c, 'g'},
    {0x011d, 'g'}, {0x011e, 'g'}, {0x011f, 'g'}, {0x0120, 'g'}, {0x0121, 'g'}, {0x0122, 'g'},
    {0x0123, 'g'}, {0x0124, 'h'}, {0x0125, 'h'}, {0x0126, 'h'}, {0x0127, 'h'}, {0x0128, 'i'},
    {0x0129, 'i'}, {0x012a, 'i'}, {0x012b, 'i'}, {0x012c, 'i'}, {0x012d, 'i'}, {0x012e, 'i'},
    {0x012f, 'i'}, {0x0130, 'i'}, {0x0131, 'i'}, {0x0134, 'j'}, {0x0135, 'j'}, {0x0136, 'k'},
    {0x0137, 'k'}, {0x0139, 'l'}, {0x013a, 'l'}, {0x013b, 'l'}, {0x013c, 'l'}, {0x013d, 'l'},
    {0x013e, 'l'}, {0x0141, 'l'}, {0x0142, 'l'}, {0x0143, 'n'}, {0x0144, 'n'}, {0x0145, 'n'},
    {0x0146, 'n'}, {0x0147, 'n'}, {0x0148, 'n'}, {0x014c, 'o'}, {0x014d, 'o'}, {0x014e, 'o'},
    {0x014f, 'o'}, {0x0150, 'o'}, {0x0151, 'o'}, {0x0154, 'r'}, {0x0155, 'r'}, {0x0156, 'r'},
    {0x0157, 'r'}, {0x0158, 'r'}, {0x0159, 'r'}, {0x015a, 's'}, {0x015b, 's'}, {0x015c, 's'},
    {0x015d, 's'}, {0x015e, 's'}, {0x015f, 's'}, {0x0160, 's'}, {0x0161, 's'}, {0x0162, 't'},
    {0x0163, 't'}, {0x0164, 't'}, {0x0165, 't'}, {0x0166, 't'}, {0x0167, 't'}, {0x0168, 'u'},
    {0x0169, 'u'}, {0x016a, 'u'}, {0x016b, 'u'}, {0x016c, 'u'}, {0x016d, 'u'}, {0x016e, 'u'},
    {0x016f, 'u'}, {0x0170, 'u'}, {0x0171, 'u'}, {0x0172, 'u'}, {0x0173, 'u'}, {0x0174, 'w'},
    {0x0175, 'w'}, {0x0176, 'y'}, {0x0177, 'y'}, {0x0178, 'y'}, {0x0179, 'z'}, {0x017a, 'z'},
    {0x017b, 'z'}, {0x017c, 'z'}, {0x017d, 'z'}, {0x017e, 'z'}, {0x017f, 's'}, {0x0184, 'b'},
    {0x0192, 'f'}, {0x01a0, 'o'}, {0x01a1, 'o'}, {0x01af, 'u'}, {0x01b0, 'u'}, {0x01cd, 'a'},
    {0x01ce, 'a'}, {0x01cf, 'i'}, {0x01d0, 'i'}, {0x01d1, 'o'}, {0x01d2, 'o'}, {0x01d3, 'u'},
    {0x01d4, 'u'}, {0x01d5, 'u'}, {0x01d6, 'u'}, {0x01d7, 'u'}, {0x01d8, 'u'}, {0x01d9, 'u'},
    {0x01da, 'u'}, {0x01db, 'u'}, {0x01dc, 'u'}, {0x01de, 'a'}, {0x01df, 'a'}, {0x01e0, 'a'},
    {0x01e1, 'a'}, {0x01e6, 'g'}, {0x01e7, 'g'}, {0x01e8, 'k'}, {0x01e9, 'k'}, {0x01ea, 'o'},
    {0x01eb, 'o'}, {0x01ec, 'o'}, {0x01ed, 'o'}, {0x01f0, 'j'}, {0x01f4, 'g'}, {0x01f5, 'g'},
    {0x01f8, 'n'}, {0x01f9, 'n'}, {0x01fa, 'a'}, {0x01fb, 'a'}, {0x0200, 'a'}, {0x0201, 'a'},
    {0x0202, 'a'}, {0x0203, 'a'}, {0x0204, 'e'}, {0x0205, 'e'}, {0x0206, 'e'}, {0x0207, 'e'},
    {0x0208, 'i'}, {0x0209, 'i'}, {0x020a, 'i'}, {0x020b, 'i'}, {0x020c, 'o'}, {0x020d, 'o'},
    {0x020e, 'o'}, {0x020f, 'o'}, {0x0210, 'r'}, {0x0211, 'r'}, {0x0212, 'r'}, {0x0213, 'r'},
    {0x0214, 'u'}, {0x0215, 'u'}, {0x0216, 'u'}, {0x0217, 'u'}, {0x0218, 's'}, {0x0219, 's'},
    {0x021a, 't'}, {0x021b, 't'}, {0x021e, 'h'}, {0x021f, 'h'}, {0x0226, 'a'}, {0x0227, 'a'},
    {0x0228, 'e'}, {0x0229, 'e'}, {0x022a, 'o'}, {0x022b, 'o'}, {0x022c, 'o'}, {0x022d, 'o'},
    {0x022e, 'o'}, {0x022f, 'o'}, {0x0230, 'o'}, {0x0231, 'o'}, {0x0232, 'y'}, {0x0233, 'y'},
    {0x0251, 'a'}, {0x0257, 'd'}, {0x0261, 'g'}, {0x0269, 'i'}, {0x026a, 'i'}, {0x028b, 'u'},
    {0x028f, 'y'}, {0x0299, 'b'}, {0x0392, 'b'}, {0x0395, 'e'}, {0x0396, 'z'}, {0x0397, 'h'},
    {0x0399, 'i'}, {0x039a, 'k'}, {0x039c, 'm'}, {0x039d, 'n'}, {0x039f, 'o'}, {0x03a1, 'p'},
    {0x03a4, 't'}, {0x03a5, 'y'}, {0x03a7, 'x'}, {0x03b1, 'a'}, {0x03b2, 'b'}, {0x03b3, 'y'},
    {0x03b7, 'n'}, {0x03b9, 'i'}, {0x03ba, 'k'}, {0x03bd, 'v'}, {0x03bf, 'o'}, {0x03c1, 'p'},
    {0x03c3, 'o'}, {0x03c4, 't'}, {0x03c5, 'u'}, {0x03c7, 'x'}, {0x03c9, 'w'}, {0x03f1, 'p'},
    {0x03f2, 'c'}, {0x03f3, 'j'}, {0x03f9, 'c'}, {0x0405, 's'}, {0x0406, 'i'}, {0x0408, 'j'},
    {0x0412, 'b'}, {0x0415, 'e'}, {0x041a, 'k'}, {0x041c, 'm'}, {0x041d, 'h'}, {0x041e, 'o'},
    {0x0420, 'p'}, {0x0421, 'c'}, {0x0422, 't'}, {0x0423, 'y'}, {0x0425, 'x'}, {0x042c, 'b'},
    {0x0430, 'a'}, {0x0432, 'b'}, {0x0433, 'r'}, {0x0435, 'e'}, {0x043a, 'k'}, {0x043c, 'm'},
    {0x043d, 'h'}, {0x043e, 'o'}, {0x043f, 'n'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0442, 't'},
    {0x0443, 'y'}, {0x0445, 'x'}, {0x0448, 'w'}, {0x044d, 'e'}, {0x0454, 'e'}, {0x0455, 's'},
    {0x0456, 'i'}, {0x0458, 'j'}, {0x0461, 'w'}, {0x0475, 'v'}, {0x0493, 'f'}, {0x04ae, 'y'},
    {0x04af, 'y'}, {0x04bb, 'h'}, {0x04bd, 'e'}, {0x04c0, 'i'}, {0x04cf, 'i'}, {0x04d1, 'a'},
    {0x04d3, 'a'}, {0x0500, 'd'}, {0x0501, 'd'}, {0x050c, 'g'}, {0x051b, 'q'}, {0x051d, 'w'},
    {0x0555, 'o'}, {0x0566, 'q'}, {0x0570, 'h'}, {0x0578, 'n'}, {0x057c, 'n'}, {0x057d, 'u'},
    {0x0581, 'g'}, {0x0585, 'o'}, {0x1d00, 'a'}, {0x1d04, 'c'}, {0x1d0b, 'k'}, {0x1d0d, 'm'},
    {0x1d0f, 'o'}, {0x1d1b, 't'}, {0x1d1c, 'u'}, {0x1d20, 'v'}, {0x1d21, 'w'}, {0x1d22, 'z'},
    {0x1d26, 'r'}, {0x1e00, 'a'}, {0x1e01, 'a'}, {0x1e02, 'b'}, {0x1e03, 'b'}, {0x1e04, 'b'},
    {0x1e05, 'b'}, {0x1e06, 'b'}, {0x1e07, 'b'}, {0x1e08, 'c'}, {0x1e09, 'c'}, {0x1e0a, 'd'},
    {0x1e0b, 'd'}, {0x1e0c, 'd'}, {0x1e0d, 'd'}, {0x1e0e, 'd'}, {0x1e0f, 'd'}, {0x1e10, 'd'},
    {0x1e11, 'd'}, {0x1e12, 'd'}, {0x1e13, 'd'}, {0x1e14, 'e'}, {0x1e15, 'e'}, {0x1e16, 'e'},
    {0x1e17, 'e'}, {0x1e18, 'e'}, {0x1e19, 'e'}, {0x1e1a, 'e'}, {0x1e1b, 'e'}, {0x1e1c, 'e'},
    {0x1e1d, 'e'}, {0x1e1e, 'f'}, {0x1e1f, 'f'}, {0x1e20, 'g'}, {0x1e21, 'g'}, {0x1e22, 'h'},
    {0x1e23, 'h'}, {0x1e24, 'h'}, {0x1e25, 'h'}, {0x1e26, 'h'}, {0x1e27, 'h'}, {0x1e28, 'h'},
    {0x1e29, 'h'}, {0x1e2a, 'h'}, {0x1e2b, 'h'}, {0x1e2c, 'i'}, {0x1e2d, 'i'}, {0x1e2e, 'i'},
    {0x1e2f, 'i'}, {0x1e30, 'k'}, {0x1e31, 'k'}, {0x1e32, 'k'}, {0x1e33, 'k'}, {0x1e34, 'k'},
    {0x1e35, 'k'}, {0x1e36, 'l'}, {0x1e37, 'l'}, {0x1e38, 'l'}, {0x1e39, 'l'}, {0x1e3a, 'l'},
    {0x1e3b, 'l'}, {0x1e3c, 'l'}, {0x1e3d, 'l'}, {0x1e3e, 'm'}, {0x1e3f, 'm'}, {0x1e40, 'm'},
    {0x1e41, 'm'}, {0x1e42, 'm'}, {0x1e43, 'm'}, {0x1e44, 'n'}, {0x1e45, 'n'}, {0x1e46, 'n'},
    {0x1e47, 'n'}, {0x1e48, 'n'}, {0x1e49, 'n'}, {0x1e4a, 'n'}, {0x1e4b, 'n'}, {0x1e4c, 'o'},
    {0x1e4d, 'o'}, {0x1e4e, 'o'}, {0x1e4f, 'o'}, {0x1e50, 'o'}, {0x1e51, 'o'}, {0x1e52, 'o'},
    {0x1e53, 'o'}, {0x1e54, 'p'}, {0x1e55, 'p'}, {0x1e56, 'p'}, {0x1e57, 'p'}, {0x1e58, 'r'},
    {0x1e59, 'r'}, {0x1e5a, 'r'}, {0x1e5b, 'r'}, {0x1e5c, 'r'}, {0x1e5d, 'r'}, {0x1e5e, 'r'},
    {0x1e5f, 'r'}, {0x1e60, 's'}, {0x1e61, 's'}, {0x1e62, 's'}, {0x1e63, 's'}, {0x1e64, 's'},
    {0x1e65, 's'}, {0x1e66, 's'}, {0x1e67, 's'}, {0x1e68, 's'}, {0x1e69, 's'}, {0x1e6a, 't'},
    {0x1e6b, 't'}, {0x1e6c, 't'}, {0x1e6d, 't'}, {0x1e6e, 't'}, {0x1e6f, 't'}, {0x1e70, 't'},
    {0x1e71, 't'}, {0x1e72, 'u'}, {0x1e73, 'u'}, {0x1e74, 'u'}, {0x1e75, 'u'}, {0x1e76, 'u'},
    {0x1e77, 'u'}, {0x1e78, 'u'}, {0x1e79, 'u'}, {0x1e7a, 'u'}, {0x1e7b, 'u'}, {0x1e7c, 'v'},
    {0x1e7d, 'v'}, {0x1e7e, 'v'}, {0x1e7f, 'v'}, {0x1e80, 'w'}, {0x1e81, 'w'}, {0x1e82, 'w'},
    {0x1e83, 'w'}, {0x1e84, 'w'}, {0x1e85, 'w'}, {0x1e86, 'w'}, {0x1e87, 'w'}, {0x1e88, 'w'},
    {0x1e89, 'w'}, {0x1e8a, 'x'}, {0x1e8b, 'x'}, {0x1e8c, 'x'}, {0x1e8d, 'x'}, {0x1e8e, 'y'},
    {0x1e8f, 'y'}, {0x1e90, 'z'}, {0x1e91, 'z'}, {0x1e92, 'z'}, {0x1e93, 'z'}, {0x1e94, 'z'},
    {0x1e95, 'z'}, {0x1e96, 'h'}, {0x1e97, 't'}, {0x1e98, 'w'}, {0x1e99, 'y'}, {0x1e9b, 's'},
    {0x1ea0, 'a'}, {0x1ea1, 'a'}, {0x1ea2, 'a'}, {0x1ea3, 'a'}, {0x1ea4, 'a'}, {0x1ea5, 'a'},
    {0x1ea6, 'a'}, {0x1ea7, 'a'}, {0x1ea8, 'a'}, {0x1ea9, 'a'}, {0x1eaa, 'a'}, {0x1eab, 'a'},
    {0x1eac, 'a'}, {0x1ead, 'a'}, {0x1eae, 'a'}, {0x1eaf, 'a'}, {0x1eb0, 'a'}, {0x1eb1, 'a'},
    {0x1eb2, 'a'}, {0x1eb3, 'a'}, {0x1eb4, 'a'}, {0x1eb5, 'a'}, {0x1eb6, 'a'}, {0x1eb7, 'a'},
    {0x1eb8, 'e'}, {0x1eb9, 'e'}, {0x1eba, 'e'}, {0x1ebb, 'e'}, {0x1ebc, 'e'}, {0x1ebd, 'e'},
    {0x1ebe, 'e'}, {0x1ebf, 'e'}, {0x1ec0, 'e'}, {0x1ec1, 'e'}, {0x1ec2, 'e'}, {0x1ec3, 'e'},
    {0x1ec4, 'e'}, {0x1ec5, 'e'}, {0x1ec6, 'e'}, {0x1ec7, 'e'}, {0x1ec8, 'i'}, {0x1ec9, 'i'},
    {0x1eca, 'i'}, {0x1ecb, 'i'}, {0x1ecc, 'o'}, {0x1ecd, 'o'}, {0x1ece, 'o'}, {0x1ecf, 'o'},
    {0x1ed0, 'o'}, {0x1ed1, 'o'}, {0x1ed2, 'o'}, {0x1ed3, 'o'}, {0x1ed4, 'o'}, {0x1ed5, 'o'},
    {0x1ed6, 'o'}, {0x1ed7, 'o'}, {0x1ed8, 'o'}, {0x1ed9, 'o'}, {0x1eda, 'o'}, {0x1edb, 'o'},
    {0x1edc, 'o'}, {0x1edd, 'o'}, {0x1ede, 'o'}, {0x1edf, 'o'}, {0x1ee0, 'o'}, {0x1ee1, 'o'},
    {0x1ee2, 'o'}, {0x1ee3, 'o'}, {0x1ee4, 'u'}, {0x1ee5, 'u'}, {0x1ee6, 'u'}, {0x1ee7, 'u'},
    {0x1ee8, 'u'}, {0x1ee9, 'u'}, {0x1eea, 'u'}, {0x1eeb, 'u'}, {0x1eec, 'u'}, {0x1eed, 'u'},
    {0x1eee, 'u'}, {0x1eef, 'u'}, {0x1ef0, 'u'}, {0x1ef1, 'u'}, {0x1ef2, 'y'}, {0x1ef3, 'y'},
    {0x1ef4, 'y'}, {0x1ef5, 'y'}, {0x1ef6, 'y'}, {0x1ef7, 'y'}, {0x1ef8, 'y'}, {0x1ef9, 'y'},
    {0x2102, 'c'}, {0x210a, 'g'}, {0x210b, 'h'}, {0x210c, 'h'}, {0x210d, 'h'}, {0x210e, 'h'},
    {0x2110, 'i'}, {0x2111, 'i'}, {0x2112, 'l'}, {0x2113, 'l'}, {0x2115, 'n'}, {0x2119, 'p'},
    {0x211a, 'q'}, {0x211b, 'r'}, {0x211c, 'r'}, {0x211d, 'r'}, {0x2124, 'z'}, {0x2128, 'z'},
    {0x212a, 'k'}, {0x212b, 'a'}, {0x212c, 'b'}, {0x212d, 'c'}, {0x212f, 'e'}, {0x2130, 'e'},
    {0x2131, 'f'}, {0x2133, 'm'}, {0x2134, 'o'}, {0x2139, 'i'}, {0x2145, 'd'}, {0x2146, 'd'},
    {0x2147, 'e'}, {0x2148, 'i'}, {0x2149, 'j'}, {0x2160, 'i'}, {0x2164, 'v'}, {0x2169, 'x'},
    {0x216c, 'l'}, {0x216d, 'c'}, {0x216e, 'd'}, {0x216f, 'm'}, {0x2170, 'i'}, {0x2174, 'v'},
    {0x2179, 'x'}, {0x217c, 'l'}, {0x217d, 'c'}, {0x217e, 'd'}, {0x217f, 'm'}, {0x237a, 'a'},
    {0x24b6, 'a'}, {0x24b7, 'b'}, {0x24b8, 'c'}, {0x24b9, 'd'}, {0x24ba, 'e'}, {0x24bb, 'f'},
    {0x24bc, 'g'}, {0x24bd, 'h'}, {0x24be, 'i'}, {0x24bf, 'j'}, {0x24c0, 'k'}, {0x24c1, 'l'},
    {0x24c2, 'm'}, {0x24c3, 'n'}, {0x24c4, 'o'}, {0x24c5, 'p'}, {0x24c6, 'q'}, {0x24c7, 'r'},
    {0x24c8, 's'}, {0x24c9, 't'}, {0x24ca, 'u'}, {0x24cb, 'v'}, {0x24cc, 'w'}, {0x24cd, 'x'},
    {0x24ce, 'y'}, {0x24cf, 'z'}, {0x24d0, 'a'}, {0x24d1, 'b'}, {0x24d2, 'c'}, {0x24d3, 'd'},
    {0x24d4, 'e'}, {0x24d5, 'f'}, {0x24d6, 'g'}, {0x24d7, 'h'}, {0x24d8, 'i'}, {0x24d9, 'j'},
    {0x24da, 'k'}, {0x24db, 'l'}, {0x24dc, 'm'}, {0x24dd, 'n'}, {0x24de, 'o'}, {0x24df, 'p'},
    {0x24e0, 'q'}, {0x24e1, 'r'}, {0x24e2, 's'}, {0x24e3, 't'}, {0x24e4, 'u'}, {0x24e5, 'v'},
    {0x24e6, 'w'}, {0x24e7, 'x'}, {0x24e8, 'y'}, {0x24e9, 'z'}, {0xa731, 's'},
});
// clang-format on
static_assert(std::ranges::is_sorted(kLookalikes, {}, &Lookalike::code));

// The lower-case letter that a code point displays, or 0.
char shown_letter(std::uint32_t code) {
  if (code < 0x80)
    return is_letter(static_cast<char>(code)) ? static_cast<char>(code | 0x20) : '\0';
  // Full-width letters, and the mathematical alphabets, which have 26 capital and 26 small letters
  // each.
  if (code >= 0xff21 && code <= 0xff3a) return static_cast<char>('a' + (code - 0xff21));
  if (code >= 0xff41 && code <= 0xff5a) return static_cast<char>('a' + (code - 0xff41));
  if (code >= 0x1d400 && code <= 0x1d6a3) return static_cast<char>('a' + (code - 0x1d400) % 26);
  const auto found = std::ranges::lower_bound(kLookalikes, code, {}, &Lookalike::code);
  return found != kLookalikes.end() && found->code == code ? found->letter : '\0';
}

std::uint32_t hex_value(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits) value = value << 4 | static_cast<std::uint32_t>(hex_digit(c));
  return value;
}

// Reads the code point at `at`, escaped or not, and advances past it. Invalid bytes display
// nothing.
std::uint32_t read_shown(std::string_view name, std::size_t& at) {
  if (const std::size_t escape = unicode_escape(name, at)) {
    at += escape;
    const std::uint32_t unit = hex_value(name.substr(at - 4, 4));
    const std::size_t low = unit >= 0xd800 && unit <= 0xdbff ? unicode_escape(name, at) : 0;
    if (low == 0) return unit;
    at += low;
    return 0x10000 + ((unit - 0xd800) << 10) +
           ((hex_value(name.substr(at - 4, 4)) - 0xdc00) & 0x3ff);
  }
  const auto lead = static_cast<unsigned char>(name[at++]);
  if (lead < 0xc2) return lead < 0x80 ? lead : 0;
  const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  std::uint32_t code = lead & (0x3fu >> more);
  for (std::size_t i = 0; i < more && at < name.size(); ++i, ++at) {
    const auto next = static_cast<unsigned char>(name[at]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3f);
  }
  return code;
}

}  // namespace

std::size_t unicode_escape(std::string_view text, std::size_t at) {
  const std::string_view near = text.substr(at, kEscapeDepthMax + 5);
  const std::size_t slashes = run(near, 0, [](char c) { return c == '\\'; });
  if (slashes == 0 || slashes > kEscapeDepthMax || slashes == near.size()) return 0;
  const bool escape =
      near[slashes] == 'u' && run(near.substr(0, slashes + 5), slashes + 1, is_hex) == 4;
  return escape ? slashes + 5 : 0;
}

std::string fold_name(std::string_view name) {
  std::string plain;
  for (std::size_t at = 0; at < name.size();) {
    if (const char letter = shown_letter(read_shown(name, at))) plain += letter;
  }
  return plain;
}

bool is_secret_name(std::string_view name) {
  constexpr std::size_t kNameBytesMax = 4096;
  const std::string plain = fold_name(name.substr(0, kNameBytesMax));
  const auto is_part = [&](std::string_view part) { return plain.find(part) != std::string::npos; };
  return std::ranges::any_of(kSecretParts, is_part) ||
         std::ranges::find(kSecretWhole, plain) != kSecretWhole.end() || plain.ends_with("token");
}

}  // namespace redrive::triage
