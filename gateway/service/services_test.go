package service

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func isFault(err error, code protocol.FaultCode) bool {
	var f *protocol.Fault
	return errors.As(err, &f) && f.Code == code
}

func TestServicesSurviveARestart(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "localhost:3000/admin", func(d *Definition) {
		d.Title, d.Visitors, d.SignIn = " Ünser  Wiki! ", []string{"Ann@Example.com", "ann@example.com"}, false
	})
	if v.Title != "Ünser  Wiki!" || v.Target != "http://localhost:3000/admin" || !v.SignIn || !slices.Equal(v.Visitors, []string{"ann@example.com"}) || v.Mode != protocol.ServiceProxy || !v.Enabled {
		t.Errorf("got %+v; want the title without blanks around it, the whole target, one visitor, who signs in", v)
	}
	if !strings.HasPrefix(v.Name, "nser-wiki-") || len(v.Name) != len("nser-wiki-")+10 || !strings.HasPrefix(v.URL, "http://"+v.Name+".localhost:") {
		t.Errorf("got the name %s and the address %s; want both to begin like the title, with ten random letters", v.Name, v.URL)
	}
	s.reload(t)
	if list := s.List(); len(list) != 1 || list[0].ID != v.ID || list[0].URL != v.URL || !slices.Equal(list[0].Visitors, v.Visitors) {
		t.Errorf("after a restart got %+v, want %+v", list, v)
	}
	if _, err := s.Delete(t.Context(), v.ID, "owner"); err != nil {
		t.Fatal(err)
	}
	s.reload(t)
	if list := s.List(); len(list) > 0 {
		t.Errorf("after it was deleted got %+v, want none", list)
	}
}

func TestTwoServicesOfOneTitleHaveTwoNames(t *testing.T) {
	s := newSite(t)
	one, two := s.publish(t, "3000", nil), s.publish(t, "3000", nil)
	if one.Name == two.Name || one.ID == two.ID {
		t.Errorf("got %s and %s, %s and %s; want them to differ", one.ID, two.ID, one.Name, two.Name)
	}
	long := s.publish(t, "3000", func(d *Definition) { d.Title = strings.Repeat("very long ", 20) })
	if len(long.Name) > 63 {
		t.Errorf("got a name of %d letters, want at most 63, as DNS allows", len(long.Name))
	}
	if untitled := s.publish(t, "3000", func(d *Definition) { d.Title = "" }); untitled.Title != "nas 3000" {
		t.Errorf("got the title %q, want the machine and the port", untitled.Title)
	}
}

func TestChangesAreCheckedAndKeepTheRest(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	title, off := "Other", false
	got, err := s.Update(t.Context(), v.ID, Change{Title: &title, SignIn: &off}, "owner")
	if err != nil || got.Title != "Other" || got.SignIn || !got.Enabled || got.Target != v.Target || got.Name != v.Name || got.URL != v.URL {
		t.Errorf("got %+v, %v; want only the title and the sign-in changed", got, err)
	}
	for _, bad := range []string{"", "a\nb", strings.Repeat("x", 201)} {
		if _, err := s.Update(t.Context(), v.ID, Change{Title: &bad}, "owner"); !isFault(err, protocol.FaultInvalidArgs) {
			t.Errorf("the title %q: got %v, want invalid_args", bad, err)
		}
	}
	if got, err = s.Share(t.Context(), v.ID, ShareAdd, []string{"ann@example.com"}, "owner"); err != nil || !got.SignIn {
		t.Errorf("got %+v, %v; want a list of visitors to imply the sign-in", got, err)
	}
	if _, err := s.Update(t.Context(), v.ID, Change{SignIn: &off}, "owner"); !isFault(err, protocol.FaultFailedPrecondition) {
		t.Errorf("opening a service with a list to everyone: got %v, want failed_precondition", err)
	}
	for _, err := range []error{
		second(s.Update(t.Context(), "svc_none", Change{}, "owner")), second(s.Delete(t.Context(), "svc_none", "owner")),
		second(s.Share(t.Context(), "svc_none", ShareList, nil, "owner")), second(s.Get("svc_none")),
	} {
		if !isFault(err, protocol.FaultNotFound) {
			t.Errorf("an unknown service: got %v, want not_found", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestTheListOfVisitorsIsShared(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	for _, c := range []struct {
		action string
		emails []string
		want   []string
		code   protocol.FaultCode
	}{
		{ShareList, nil, []string{}, ""},
		{ShareAdd, []string{"bob@example.com", "*@Partner.com"}, []string{"bob@example.com", "*@partner.com"}, ""},
		{ShareAdd, []string{"BOB@example.com"}, []string{"bob@example.com", "*@partner.com"}, ""},
		{ShareAdd, []string{"good@example.com", "bad"}, nil, protocol.FaultInvalidArgs},
		{ShareAdd, nil, nil, protocol.FaultInvalidArgs},
		{ShareRemove, nil, nil, protocol.FaultInvalidArgs},
		{ShareRemove, []string{"bob@example.com", "nobody@example.com"}, []string{"*@partner.com"}, ""},
		{"", nil, nil, protocol.FaultInvalidArgs},
		{"clear", nil, nil, protocol.FaultInvalidArgs},
		{ShareRevoke, nil, []string{}, ""},
	} {
		got, err := s.Share(t.Context(), v.ID, c.action, c.emails, "owner")
		if c.code != "" {
			if !isFault(err, c.code) {
				t.Errorf("%s %v: got %v, want %s", c.action, c.emails, err, c.code)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Visitors, c.want) {
			t.Errorf("%s %v: got %v, %v; want %v", c.action, c.emails, got.Visitors, err, c.want)
		}
	}
	many := make([]string, maxVisitors+1)
	for i := range many {
		many[i] = strings.Repeat("a", i%60+1) + "@" + strings.Repeat("b", i/60+1) + ".example"
	}
	if _, err := s.Share(t.Context(), v.ID, ShareAdd, many, "owner"); !isFault(err, protocol.FaultInvalidArgs) {
		t.Errorf("%d addresses: got %v, want invalid_args", len(many), err)
	}
}

func TestChangesAreInTheAuditLog(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", func(d *Definition) { d.Visitors = []string{"ann@example.com"} })
	if _, err := s.Delete(t.Context(), v.ID, "person"); err != nil {
		t.Fatal(err)
	}
	entries, _, err := s.db.Audit.List(t.Context(), protocol.AuditListParams{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range entries {
		lines = append(lines, e.Kind+": "+e.What+" by "+e.By)
	}
	slices.Sort(lines)
	want := []string{
		"service: deleted The app, http://127.0.0.1:3000/, for the owner and ann@example.com by person",
		"service: published The app, http://127.0.0.1:3000/, for the owner and ann@example.com by owner",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

// fullDisk stores no visits.
type fullDisk struct{ VisitStore }

func (fullDisk) PutVisit(context.Context, store.Visit, int64) error { return protocol.ErrStorage }

func TestNoLinkIsGivenOutThatIsNotStored(t *testing.T) {
	s := newSite(t)
	if link, err := NewVisits(fullDisk{}, nil).Link(t.Context(), s.publish(t, "3000", nil), ""); link != "" || !errors.Is(err, protocol.ErrStorage) {
		t.Errorf("got the link %q, %v; want none, and that the database cannot be written", link, err)
	}
}

func TestAServiceStaysOpenWhoseEndIsNotStored(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	s.db.Close()
	err := s.Close(t.Context(), "owner", protocol.ServiceParams{ID: v.ID})
	if now, _ := s.Get(v.ID); err == nil || !now.Enabled {
		t.Errorf("got %v, turned on: %v; want an error and the service as it was", err, now.Enabled)
	}
}

func TestChangesOfServicesArePublished(t *testing.T) {
	s := newSite(t)
	changes := s.bus.Subscribe()
	defer changes.Close()
	v := s.publish(t, "3000", nil)
	if err := s.Close(t.Context(), "owner", protocol.ServiceParams{ID: v.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), v.ID, "owner"); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"published", "turned off", "deleted"} {
		if c, err := changes.Next(t.Context()); err != nil || c.Kind != protocol.ChangeServices {
			t.Errorf("%s: got the change %q, %v; want %q", what, c.Kind, err, protocol.ChangeServices)
		}
	}
}
