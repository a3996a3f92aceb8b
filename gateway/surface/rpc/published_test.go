package rpc

import (
	"context"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/service"
	"fairlead/gateway/service/console"
	"fairlead/gateway/store"
)

// noUses stores the use of no service.
type noUses struct{}

func (noUses) Uses(context.Context) (map[protocol.ServiceID]store.ServiceUse, error) {
	return map[protocol.ServiceID]store.ServiceUse{}, nil
}

func (noUses) PutUses(context.Context, map[protocol.ServiceID]store.ServiceUse, ...protocol.AuditEntry) error {
	return nil
}

// noTerminals are not shown.
type noTerminals struct{ console.Terminals }

func (noTerminals) End(protocol.Service) {}

// fakePublished has no services.
func fakePublished(bus *event.Bus) Published {
	p := Published{Services: new(service.Services), Visits: service.NewVisits(nil, nil)}
	var err error
	p.Site, err = service.NewSite(context.Background(), service.Options{
		Services: p.Services, Visits: p.Visits, Uses: noUses{}, Questions: question.New(questiontest.NewStore(), nil, bus), Bus: bus,
		Zone: func() *time.Location { return time.UTC }, Terminals: noTerminals{},
	})
	if err != nil {
		panic(err)
	}
	return p
}
