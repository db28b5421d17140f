require("no-such-package-anywhere");
exports.handler = async () => 1;
