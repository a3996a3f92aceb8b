package rpc

import (
	"context"
	"fmt"
	"sync"

	"fairlead/gateway/protocol"
)

// maxWatches is the number of folders that one connection may watch.
const maxWatches = 16

// watches are the folders that clients watch.
type watches struct {
	mu   sync.Mutex // guards open
	open map[string]watching
}

type watching struct {
	client *Conn
	node   protocol.NodeID
}

func (w *watches) begin(c *Conn, node protocol.NodeID) (id string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, o := range w.open {
		if o.client == c {
			n++
		}
	}
	if n >= maxWatches {
		return "", protocol.ErrConflict.With(fmt.Sprintf("this connection watches %d folders already", maxWatches))
	}
	if w.open == nil {
		w.open = make(map[string]watching)
	}
	id = protocol.NewID()
	w.open[id] = watching{c, node}
	return id, nil
}

// end removes a watch of c and tells its node. It reports whether there was one.
func (w *watches) end(id string, c *Conn) bool {
	w.mu.Lock()
	o, ok := w.open[id]
	if ok = ok && o.client == c; ok {
		delete(w.open, id)
	}
	w.mu.Unlock()
	if ok {
		c.srv.unwatch(o.node, id)
	}
	return ok
}

// leave ends all watches of a connection.
func (w *watches) leave(c *Conn) {
	w.mu.Lock()
	var ids []string
	for id, o := range w.open {
		if o.client == c {
			ids = append(ids, id)
		}
	}
	w.mu.Unlock()
	for _, id := range ids {
		w.end(id, c)
	}
}

// tell forwards a node's report to the clients that watch the folder.
func (w *watches) tell(ctx context.Context, from *Conn, change protocol.FilesChange) {
	node, ids := from.node(), change.WatchIDs
	change.Node = node
	for _, id := range ids {
		w.mu.Lock()
		o, ok := w.open[id]
		if ok = ok && o.node == node; ok && change.Again {
			delete(w.open, id)
		}
		w.mu.Unlock()
		if ok {
			change.WatchIDs = []string{id}
			o.client.SendEvent(ctx, protocol.EventFiles, change)
		}
	}
}

// unwatch tells a node that nobody watches the folder any more.
func (s *Server) unwatch(node protocol.NodeID, id string) {
	if link, ok := s.s.Nodes.LinkOf(node); ok {
		link.SendEvent(context.Background(), protocol.EventFilesUnwatch, protocol.FilesUnwatchParams{WatchID: id})
	}
}

// listFolder lists a folder of a node, and watches it on request.
func (s *Server) listFolder(ctx context.Context, c *Conn, p protocol.FilesListParams) (out protocol.FilesListResult, err error) {
	p.WatchID = ""
	if p.Watch && s.browsable(p.Node) == nil {
		if p.WatchID, err = s.watches.begin(c, p.Node); err != nil {
			return out, err
		}
	}
	out, err = fileAct[protocol.FilesListResult](ctx, s, c, protocol.ActList, p.Node, p, p.Path)
	if p.WatchID != "" && (err != nil || out.WatchID != p.WatchID || ctx.Err() != nil) {
		s.watches.end(p.WatchID, c)
		out.WatchID = ""
	}
	return out, err
}
