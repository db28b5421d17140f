#pragma once

#include "net/http/answer.h"
#include "net/http/server.h"

// The web console: static files below /console/, and a redirect for browsers that open /.
//
// The files hold no data, so they are served without a signature; every request that the page makes
// is authorised as any other. Reads only: nothing here depends on the engine or the journal.

namespace redrive::console {

// Whether a request is for the console and not for a bucket of that name: requests that are signed
// for S3, in headers or in the query, are not.
bool is_console_request(const http::Request& request);

// Pure. index.html is validated by its ETag on each visit (304 when it is unchanged); files whose
// names contain the digest of their contents may be kept for ever. All are sent compressed, as
// every browser accepts.
http::Answer answer(const http::Request& request);

void handle(http::Exchange& exchange);

}  // namespace redrive::console
