package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

func schedulesCommand(o *options) *cobra.Command {
	list := o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
		r, err := schedules(ctx, c)
		return show(c, r, err, printSchedules)
	})
	enable := func(on bool, done string) runner {
		return o.onSchedule(func(ctx context.Context, c *connection, j protocol.CronJob) error {
			p := protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Enabled: &on}}
			return showCall(ctx, c, protocol.CronUpdate, p, func(out io.Writer, r protocol.CronJobResult) error {
				return printf(out, "%s “%s”.\n", done, flat(r.Job.Name))
			})
		})
	}
	remove := o.onSchedule(func(ctx context.Context, c *connection, j protocol.CronJob) error {
		return showCall(ctx, c, protocol.CronRemove, protocol.CronJobParams{ID: j.ID}, func(out io.Writer, _ protocol.CronRemoveResult) error {
			return printf(out, "Deleted “%s” with its runs.\n", flat(j.Name))
		})
	})
	run := o.onSchedule(func(ctx context.Context, c *connection, j protocol.CronJob) error {
		return showCall(ctx, c, protocol.CronRunNow, protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce}, printRunNow)
	})
	one := cobra.ExactArgs(1)
	cmd := command("schedules", "List or change schedules", cobra.NoArgs, list)
	cmd.AddCommand(command("list", "List all schedules", cobra.NoArgs, list), addScheduleCommand(o),
		command("show SCHEDULE", "Show a schedule and its last runs", one, o.onSchedule(showSchedule)),
		command("run SCHEDULE", "Run a schedule now and wait for the answer", one, run),
		command("pause SCHEDULE", "Pause a schedule", one, enable(false, "Paused")),
		command("resume SCHEDULE", "Resume a paused schedule", one, enable(true, "Resumed")),
		command("delete SCHEDULE", "Delete a schedule with its runs", one, remove), heartbeatCommand(o))
	cmd.Long = "Lists schedules, or changes one. SCHEDULE is a name, or the beginning of an ID."
	return cmd
}

// repetition has the flags for when a schedule runs.
type repetition struct {
	daily, weekdays                        bool
	on, monthly, at, every, once, cron, tz string
}

func addScheduleCommand(o *options) *cobra.Command {
	var r repetition
	p := protocol.CronAddParams{Notify: protocol.NotifyAlways, Missed: protocol.MissedLatest}
	var inMain, preview bool
	var cmd *cobra.Command
	add := o.onGateway(func(ctx context.Context, c *connection, args []string) error {
		schedule, err := r.schedule()
		if err != nil {
			return usageError("%w", err)
		}
		if preview {
			return showCall(ctx, c, protocol.CronPreview, protocol.CronPreviewParams{Schedule: &schedule}, printPreview)
		}
		if !c.offers(protocol.CronPreview.Name) {
			if err := onlyKnown(cmd.Flags(), "once", "notify", "missed"); err != nil {
				return err
			}
		}
		p.Name, p.Schedule = args[0], &schedule
		p.Spec = &protocol.CronMode{Mode: protocol.CronTask, Message: args[1]}
		if inMain {
			p.Spec = &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: args[1]}
		}
		added, err := call(ctx, c, protocol.CronAdd, p)
		if err != nil || c.json {
			return show(c, added, err, nil)
		}
		fmt.Fprintf(c.out, "Created “%s” (%s).\n", flat(added.Job.Name), shortID(added.Job.ID))
		if !c.offers(protocol.CronPreview.Name) {
			return nil
		}
		return showCall(ctx, c, protocol.CronPreview, protocol.CronPreviewParams{Schedule: &added.Job.Schedule}, printPreview)
	})
	cmd = command("add NAME INSTRUCTIONS", "Create a schedule", cobra.ExactArgs(2), add)
	cmd.Example = `  fairlead schedules add Backups 'Look at the backups and tell me what failed' --weekdays --at 09:00
  fairlead schedules add Report 'Summarize the week' --on mon,thu --at '9:00, 17:30'
  fairlead schedules add Invoices 'List the open invoices' --monthly last --at 18:00
  fairlead schedules add Disk 'Check the free space' --every 2h --notify news
  fairlead schedules add Call 'Remind me to call Anna' --once 'tomorrow 9:00'`
	f := cmd.Flags()
	f.BoolVar(&r.daily, "daily", false, "every day")
	f.BoolVar(&r.weekdays, "weekdays", false, "every weekday, Monday to Friday")
	f.StringVar(&r.on, "on", "", "on `days` of the week, such as mon,thu")
	f.StringVar(&r.monthly, "monthly", "", "every month, on a `day` from 1 to 31 or last")
	f.StringVar(&r.at, "at", "09:00", "`times` of day for the flags above, such as '9:00, 17:30'")
	f.StringVar(&r.every, "every", "", "at an `interval`, such as 30m, 2h or '3 days'")
	f.StringVar(&r.once, "once", "", "once, at a `time` such as 18:30, 'tomorrow 9:00' or '2026-05-03 18:30'")
	f.StringVar(&r.cron, "cron", "", "by a cron `expression`, such as '0 9 * * 1-5'")
	f.StringVar(&r.tz, "zone", "", "time `zone` of the times, such as Europe/Berlin (default: yours)")
	f.BoolVar(&inMain, "in-main-chat", false, "run in the main chat instead of in a chat of its own")
	f.Var(choiceFlag[string]{&p.Notify, []string{protocol.NotifyAlways, protocol.NotifyNews, protocol.NotifyNever}}, "notify",
		"notify me always, only of news (something to say, or a failure), or never")
	f.Var(choiceFlag[string]{&p.Missed, []string{protocol.MissedLatest, protocol.MissedAll, protocol.MissedSkip, protocol.MissedAsk}}, "missed",
		"if Fairlead was not running: run latest (once) or all missed times, skip them, or ask me")
	f.BoolVar(&preview, "preview", false, "only show when it would run")
	return cmd
}

// schedule returns the schedule of the flags. The gateway converts times as people write them.
func (r repetition) schedule() (s protocol.CronSchedule, err error) {
	given := 0
	for _, on := range []bool{r.daily, r.weekdays, r.on != "", r.monthly != "", r.every != "", r.once != "", r.cron != ""} {
		if on {
			given++
		}
	}
	switch {
	case given != 1:
		return s, errors.New("give one of --daily, --weekdays, --on, --monthly, --every, --once and --cron")
	case r.every != "":
		d, err := when.Parse(r.every)
		return protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: d.Milliseconds()}, err
	case r.once != "":
		return protocol.CronSchedule{Kind: protocol.CronAt, TZ: r.tz, CronWritten: protocol.CronWritten{At: r.once}}, nil
	case r.cron != "":
		return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: r.cron, TZ: r.tz}, nil
	}
	var f repeat.Form
	if f.Times, err = repeat.ParseTimes(r.at); err != nil {
		return s, err
	}
	switch {
	case r.weekdays:
		f.Days = repeat.Workdays
	case r.on != "":
		f.Days, err = parseDays(r.on)
	case r.monthly == "last":
		f.Day = repeat.LastDay
	case r.monthly != "":
		if f.Day, err = strconv.Atoi(r.monthly); err != nil || f.Day < 1 || f.Day > 31 {
			err = errors.New("--monthly must be a day from 1 to 31 or last")
		}
	}
	return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: f.Expr(), TZ: r.tz}, err
}

// parseDays parses days of the week: mon,thursday.
func parseDays(text string) (days []time.Weekday, err error) {
	for name := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r == ',' || r == ' ' }) {
		found := false
		for day := range time.Saturday + 1 {
			if full := strings.ToLower(day.String()); len(name) >= 3 && strings.HasPrefix(full, name) {
				days, found = append(days, day), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%q is not a day of the week; write mon,thu", name)
		}
	}
	return days, nil
}

func printPreview(out io.Writer, r protocol.CronPreviewResult) error {
	return printf(out, "%s\n", repeat.Sentence(r, time.Now()))
}

func schedules(ctx context.Context, c *connection) (all protocol.CronListResult, err error) {
	for {
		page, err := call(ctx, c, protocol.CronList, protocol.CronListParams{Limit: new(500), Offset: len(all.Jobs)})
		if err != nil {
			return all, err
		}
		all.Jobs, all.Count = append(all.Jobs, page.Jobs...), page.Count
		if len(page.Jobs) == 0 || len(all.Jobs) >= page.Count {
			return all, nil
		}
	}
}

// onSchedule makes a command run f with the schedule that its argument names.
func (o *options) onSchedule(f func(ctx context.Context, c *connection, j protocol.CronJob) error) runner {
	return o.onGateway(func(ctx context.Context, c *connection, args []string) error {
		all, err := schedules(ctx, c)
		if err != nil {
			return err
		}
		j, err := findSchedule(all.Jobs, args[0])
		if err != nil {
			return err
		}
		return f(ctx, c, j)
	})
}

// findSchedule finds a schedule by its name or the beginning of its ID.
func findSchedule(all []protocol.CronJob, text string) (found protocol.CronJob, err error) {
	if text == "" {
		return found, errNoID
	}
	n := 0
	for _, j := range all {
		if strings.EqualFold(j.Name, text) || strings.HasPrefix(string(j.ID), text) {
			found, n = j, n+1
		}
	}
	switch n {
	case 0:
		return found, fmt.Errorf("there is no schedule %q; fairlead schedules lists them", text)
	case 1:
		return found, nil
	}
	return found, fmt.Errorf("%d schedules match %q; give the beginning of an ID", n, text)
}

func printSchedules(out io.Writer, r protocol.CronListResult) error {
	now := time.Now()
	var rows table
	for _, j := range r.Jobs {
		rows.row(shortID(j.ID), flat(j.Name), repeat.Text(j.Schedule, now), scheduleState(j, now))
	}
	return rows.print(out, "Nothing is scheduled.")
}

func scheduleState(j protocol.CronJob, now time.Time) string {
	state := "no further runs"
	switch {
	case j.State.NeedsApproval:
		return "waiting for an approval; fairlead approvals list shows it"
	case j.State.RunningAtMs > 0:
		return "running"
	case !j.Enabled && j.Schedule.Kind == protocol.CronAt && j.State.LastStatus != "":
		state = "done"
	case !j.Enabled:
		state = "paused"
	case j.State.NextRunAtMs > 0:
		state = "next: " + repeat.When(j.State.NextRunAtMs, now)
	}
	if j.State.LastStatus == protocol.CronError {
		state += " (the last run failed)"
	}
	return state
}

func showSchedule(ctx context.Context, c *connection, j protocol.CronJob) error {
	runs, err := call(ctx, c, protocol.CronRuns, protocol.CronRunsParams{JobID: j.ID, Limit: new(10)})
	if err != nil || c.json {
		return show(c, struct {
			Job  protocol.CronJob   `json:"job"`
			Runs []protocol.CronRun `json:"runs"`
		}{j, runs.Runs}, err, nil)
	}
	now := time.Now()
	var facts table
	facts.row("Name", flat(j.Name))
	facts.row("When", format.Capital(repeat.Text(j.Schedule, now)))
	facts.row("State", format.Capital(scheduleState(j, now)))
	facts.row("Instructions", format.Line(j.Spec.Message+j.Spec.Text, 200))
	facts.row("Notify me", j.Notifies())
	if err := facts.print(c.out, ""); err != nil {
		return err
	}
	return printRuns(c.out, runs, now)
}

func printRuns(out io.Writer, r protocol.CronRunsResult, now time.Time) error {
	if len(r.Runs) == 0 {
		return printf(out, "\nIt has not run yet.\n")
	}
	fmt.Fprintf(out, "\nThe last %d of %s:\n", len(r.Runs), format.Plural(r.Count, "run"))
	var rows table
	for _, run := range r.Runs {
		took := (time.Duration(run.DurationMs) * time.Millisecond).Round(100 * time.Millisecond)
		status := run.Status
		if run.Denied > 0 {
			status += fmt.Sprintf(", %d denied", run.Denied)
		}
		rows.row(repeat.When(run.Ts, now), status, took.String(), format.Line(run.Error+" "+run.Summary, 100))
	}
	return rows.print(out, "")
}

func printRunNow(out io.Writer, r protocol.CronRunNowResult) error {
	for _, one := range r.Results {
		switch one.Status {
		case protocol.CronOK:
			_, text, _ := strings.Cut(one.Summary, "\n") // the first line is the chat's key
			fmt.Fprintln(out, text)
		default:
			return &exitError{code: exitFailed, err: errors.New(one.Error)}
		}
	}
	return nil
}
