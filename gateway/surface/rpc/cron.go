package rpc

import (
	"fairlead/gateway/cron"
	"fairlead/gateway/protocol"
)

// registerSchedules registers the methods of the protocol for schedules and the heartbeat.
func registerSchedules(all methods, s *cron.Scheduler) {
	handle(all, protocol.CronStatusGet, plain(s.Status))
	handle(all, protocol.CronList, plain(s.List))
	handle(all, protocol.CronAdd, plain(s.Add))
	handle(all, protocol.CronUpdate, plain(s.Update))
	handle(all, protocol.CronRemove, plain(s.Remove))
	handle(all, protocol.CronRunNow, plain(s.RunNow))
	handle(all, protocol.CronRuns, plain(s.Runs))
	handle(all, protocol.HeartbeatStatus, plain(s.HeartbeatStatus))
	handle(all, protocol.HeartbeatStart, plain(s.HeartbeatStart))
	handle(all, protocol.HeartbeatTrigger, plain(s.HeartbeatTrigger))
}
