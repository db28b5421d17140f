exports.handler = async () => {
