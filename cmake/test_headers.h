// As common_headers.h, for tests.
#pragma once

#include "common_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
