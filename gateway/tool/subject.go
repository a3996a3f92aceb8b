package tool

import (
	"context"
	"encoding/json"
	"errors"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// subject is what is to run: a call, its tool as it exists now, and what the call would do.
type subject struct {
	call    Call
	target  resolved
	preview *protocol.CallPreview // nil: nobody knows it before the call runs
}

// validate checks the arguments against the tool's schema, and sets the effect that they have.
func (s *subject) validate() (err error) {
	if s.call.Args, err = toolkit.Arguments(s.target.Spec.InputSchema, s.call.Args); err != nil {
		return err
	}
	if len(s.call.Args) == 0 {
		s.call.Args = json.RawMessage("{}")
	}
	s.setEffect()
	return nil
}

// setEffect sets the effect of a tool whose effect depends on its arguments.
func (s *subject) setEffect() {
	if of := s.target.Spec.EffectOf; of != nil {
		s.target.Spec.Effect = of(s.call.Args)
	}
}

// inspect finds out what the call would do. problem says why it cannot work, and fault the same
// with its code, if the tool has one.
func (s *subject) inspect(ctx context.Context) (problem string, fault *protocol.Fault, err error) {
	preview, hasPreview, err := s.target.Preview(ctx, s.call)
	s.preview = nil
	var failed *Failure
	switch {
	case errors.As(err, &failed):
		return failed.Text, failed.Fault, nil
	case err != nil || !hasPreview:
		return "", nil, err
	}
	s.preview = &preview
	// For credentials, the reason of a failure would reveal their contents: whether a text is
	// found, or a file exists.
	if preview.Secret == "" {
		return preview.Problem, preview.Fault, nil
	}
	return "", nil, nil
}

// collects reports whether the call only collects content, which takes effect by a later call.
func (s *subject) collects() bool {
	return s.preview != nil && s.preview.Collects && s.target.Spec.Effect == protocol.EffectWrite
}

// request returns the call as the rules judge it.
func (s *subject) request(needs Resources) policy.Request {
	name, spec := s.call.Tool, s.target.Spec
	if needs.Bare != spec.Name {
		name = protocol.NewToolName(s.target.Node, needs.Bare)
	}
	return policy.Request{
		Tool: name, Node: s.target.Node, Bare: needs.Bare, Own: spec.Name, Effect: spec.Effect, Args: s.call.Args, Preview: s.preview,
		Session: s.call.grantee(), Direct: s.call.Direct, By: s.call.AskedBy, Server: spec.Server, Risk: spec.Risk, Host: needs.Host,
	}
}

// hash returns the checksum of what a person sees of the call under a version of the rules. Its node
// compares it with what it is about to do.
func (s *subject) hash(version string, opened ...protocol.FolderAccess) (string, error) {
	return protocol.CallHash(protocol.AskCall, s.target.Node, s.target.Spec.Name, s.call.Args, s.preview, version, opened...)
}
