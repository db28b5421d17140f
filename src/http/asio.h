#pragma once

// The parts of Boost.Asio that this room uses, with executors of the concrete type: the type-erased
// default costs an allocation or an indirect call at every step.
//
// Asio's memory fences around handlers are left out: each loop runs on one thread, and what other
// threads post comes through the scheduler's mutex. ThreadSanitizer does not understand fences.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <chrono>

namespace redrive::http {

namespace asio = boost::asio;
using boost::system::error_code;

using IoExecutor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, IoExecutor>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, IoExecutor>;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, IoExecutor>;

}  // namespace redrive::http
