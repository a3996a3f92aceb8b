package servers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxPages is the number of pages of a list that are read.
const maxPages = 200

// readPages reads a list page by page until it ends, limit items are read, or a cursor comes back a
// second time. what names the list in the server's log and in errors. The first page must succeed;
// without a later one the list is incomplete, unless ctx ends.
func readPages[T any](ctx context.Context, log *ring, what string, limit int, read func(ctx context.Context, cursor string) (items []T, next string, err error)) (list []T, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the server did not list its %s within %d s", what, int(listLimit/time.Second)))
	defer cancel()
	seen := map[string]bool{"": true}
	for cursor, page := "", 1; ; page++ {
		items, next, err := read(ctx, cursor)
		if cause := context.Cause(ctx); cause != nil && err != nil {
			err = cause
		}
		switch {
		case err != nil && (page == 1 || errors.Is(err, context.Canceled)):
			return nil, fmt.Errorf("list the %s: %w", what, withoutCalling(err))
		case err != nil:
			log.addf("Page %d of the %s could not be read, and the others are left out: %v", page, what, withoutCalling(err))
			return list, nil
		}
		list = append(list, items...)
		switch {
		case next == "":
			return list, nil
		case seen[next]:
			log.addf("The list of %s does not end: page %d leads to a page that was read before", what, page)
			return list, nil
		case len(list) >= limit || page == maxPages:
			log.addf("The server has more than %d %s: the others are left out", len(list), what)
			return list, nil
		}
		seen[next], cursor = true, next
	}
}

// withoutCalling removes the name of the method, with which the SDK begins the text of an error.
func withoutCalling(err error) error {
	if failed, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return failed
	}
	return err
}
