#include "cli/apply/deploy_guess.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace redrive::cli {
namespace {

namespace fs = std::filesystem;

class DeployGuessTest : public testing::Test {
 protected:
  DeployGuessTest() {
    std::string name = (fs::temp_directory_path() / "deploy-guess-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~DeployGuessTest() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text = "") {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::string guess(const std::string& below = "") const {
    const auto guess = guess_deployment(below.empty() ? root_ : root_ / below);
    return guess ? guess->runtime + " " + guess->handler : "nothing";
  }

  fs::path root_;
};

TEST_F(DeployGuessTest, AnEmptyDirectoryTellsNothing) {
  EXPECT_EQ(guess(), "nothing");
  write("README.md");
  EXPECT_EQ(guess(), "nothing");
}

TEST_F(DeployGuessTest, TheUsualNames) {
  write("main.js", "exports.handler = async () => 1");
  EXPECT_EQ(guess(), "nodejs20.x main.handler");
  write("index.mjs", "export const handler = async () => 1");
  EXPECT_EQ(guess(), "nodejs20.x index.handler");
  write("handler.py", "def handler(event, context):\n  pass\n");
  EXPECT_EQ(guess(), "python3.11 handler.handler");
  write("lambda_function.py", "def lambda_handler(event, context):\n  pass\n");
  EXPECT_EQ(guess(), "python3.11 lambda_function.lambda_handler");
  write("bootstrap", "#!/bin/sh\n");
  EXPECT_EQ(guess(), "provided.al2023 bootstrap");
}

TEST_F(DeployGuessTest, WhatAFileDefinesIsItsHandler) {
  write("main.py", "def main(event, context):\n  pass\n");
  EXPECT_EQ(guess(), "python3.11 main.main");
  write("app.py", "def lambda_handler(event, context):\n  pass\ndef handler(x):\n  pass\n");
  EXPECT_EQ(guess(), "python3.11 app.lambda_handler");
}

TEST_F(DeployGuessTest, PackagesSayWhatTheyBeginWith) {
  write("index.js", "exports.handler = 1");
  write("package.json", R"({"name": "x", "main": "./dist/entry.js"})");
  EXPECT_EQ(guess(), "nodejs20.x index.handler");  // The main file does not exist.
  write("dist/entry.js", "exports.handler = 1");
  EXPECT_EQ(guess(), "nodejs20.x dist/entry.handler");
  write("package.json", "not JSON");
  EXPECT_EQ(guess(), "nodejs20.x index.handler");
}

TEST_F(DeployGuessTest, OneFileIsEnough) {
  write("resize.py", "def handler(event, context):\n  pass\n");
  EXPECT_EQ(guess("resize.py"), "python3.11 resize.handler");
  write("notes.txt");
  EXPECT_EQ(guess("notes.txt"), "nothing");
}

}  // namespace
}  // namespace redrive::cli
