package rpc

import (
	"context"

	"fairlead/gateway/protocol"
)

// Schedules manages scheduled jobs and heartbeats.
type Schedules interface {
	Status(ctx context.Context, in protocol.CronStatusParams) (protocol.CronStatus, error)
	List(ctx context.Context, in protocol.CronListParams) (protocol.CronListResult, error)
	Add(ctx context.Context, in protocol.CronAddParams) (protocol.CronJobResult, error)
	Update(ctx context.Context, in protocol.CronUpdateParams) (protocol.CronJobResult, error)
	Remove(ctx context.Context, in protocol.CronJobParams) (protocol.CronRemoveResult, error)
	RunNow(ctx context.Context, in protocol.CronRunParams) (protocol.CronRunNowResult, error)
	Runs(ctx context.Context, in protocol.CronRunsParams) (protocol.CronRunsResult, error)
	HeartbeatStatus(ctx context.Context, in protocol.Empty) (protocol.HeartbeatStatusResult, error)
	HeartbeatStart(ctx context.Context, in protocol.Empty) (protocol.HeartbeatStartResult, error)
	HeartbeatTrigger(ctx context.Context, in protocol.HeartbeatTriggerParams) (protocol.HeartbeatTriggerResult, error)
}

// schedules registers the methods of the protocol for schedules and the heartbeat.
func (s *Server) schedules(all map[string]handler) {
	handle(all, protocol.CronStatusGet, plain(s.s.Schedules.Status))
	handle(all, protocol.CronList, plain(s.s.Schedules.List))
	handle(all, protocol.CronAdd, plain(s.s.Schedules.Add))
	handle(all, protocol.CronUpdate, plain(s.s.Schedules.Update))
	handle(all, protocol.CronRemove, plain(s.s.Schedules.Remove))
	handle(all, protocol.CronRunNow, plain(s.s.Schedules.RunNow))
	handle(all, protocol.CronRuns, plain(s.s.Schedules.Runs))
	handle(all, protocol.HeartbeatStatus, plain(s.s.Schedules.HeartbeatStatus))
	handle(all, protocol.HeartbeatStart, plain(s.s.Schedules.HeartbeatStart))
	handle(all, protocol.HeartbeatTrigger, plain(s.s.Schedules.HeartbeatTrigger))
}
