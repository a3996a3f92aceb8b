package service

import (
	"context"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Actions of [Services.Share].
const (
	ShareList   = "list"
	ShareAdd    = "add"
	ShareRemove = "remove"
	ShareRevoke = "revoke" // removes all
)

// CheckShare returns why [Services.Share] would refuse its arguments, as a *protocol.Fault.
func CheckShare(action string, emails []string) error {
	switch action {
	case ShareAdd, ShareRemove:
		if len(emails) == 0 {
			return invalid("the action %s needs emails", action)
		}
	case ShareList, ShareRevoke:
	default:
		return invalid("the action is %q; it can be list, add, remove or revoke", action)
	}
	_, err := patterns(nil, emails)
	return err
}

// Share changes or lists who may visit a service. The visits of those who are taken off the list
// end, also if their access was granted for some time. The error is a *protocol.Fault, or that of
// the store.
func (s *Services) Share(ctx context.Context, id protocol.ServiceID, action string, emails []string, by string) (protocol.Service, error) {
	if err := CheckShare(action, emails); err != nil {
		return protocol.Service{}, err
	}
	if action == ShareList {
		return s.Get(id)
	}
	var gone []string
	isGone := func(v store.Visit) bool { return v.IsGranted && (action == ShareRevoke || Matches(gone, v.Email)) }
	return s.edit(ctx, id, "changed the visitors of", by, isGone, func(v *protocol.Service) (err error) {
		switch action {
		case ShareAdd:
			v.SignIn = true
			v.Visitors, err = patterns(v.Visitors, emails)
		case ShareRemove:
			gone, err = patterns(nil, emails)
			v.Visitors = slices.DeleteFunc(slices.Clone(v.Visitors), func(p string) bool { return slices.Contains(gone, p) })
		case ShareRevoke:
			v.Visitors = []string{}
		}
		return err
	})
}
