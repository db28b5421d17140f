module.exports.handler = async () => "from cjs";
