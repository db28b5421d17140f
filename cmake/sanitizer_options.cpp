// So that a stack has names: clang's sanitizers look for LLVM's symbolizer, a package of its own;
// every machine with a linker has this one.
extern "C" {
const char* __asan_default_options() {
  return "external_symbolizer_path=/usr/bin/addr2line";
}
const char* __tsan_default_options() {
  return "external_symbolizer_path=/usr/bin/addr2line";
}
}
