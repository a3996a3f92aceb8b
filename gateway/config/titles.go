package config

import "strings"

// titles are the names of the settings in windows. A test checks that it has exactly the existing
// settings.
var titles = map[string]string{
	"model.provider":                               "Provider that answers",
	"model.id":                                     "Model that answers",
	"model.thinkingLevel":                          "Thinking",
	"apiKeys.*":                                    "Key",
	"providers.*.baseUrl":                          "Address",
	"providers.*.wire":                             "Protocol of the server",
	"timeouts.llmMs":                               "Time for a step of the model",
	"timeouts.toolMs":                              "Time for a tool",
	"auth.token":                                   "Token of this gateway",
	"agent.maxSteps":                               "Steps before you are asked",
	"approvals.timeoutMs":                          "Time for an answer",
	"approvals.tell.channel":                       "Channel that tells you",
	"approvals.tell.accountId":                     "Account of that channel",
	"approvals.tell.to":                            "Your address there",
	"toolApproval.defaultDecision":                 "When no rule decides",
	"toolApproval.rules":                           "Rules in the original's form",
	"systemPrompt":                                 "What every agent is told first",
	"session.mainKey":                              "Key of the main chat",
	"session.dmScope":                              "Direct messages share a chat",
	"session.identityLinks.*":                      "Addresses of a person",
	"session.defaultResetPolicy.mode":              "A chat starts afresh",
	"session.defaultResetPolicy.atHour":            "Hour of the daily start",
	"session.defaultResetPolicy.idleMinutes":       "Silence before a fresh start",
	"userTimezone":                                 "Time zone",
	"transcription.baseUrl":                        "Address of the server",
	"transcription.model":                          "Model that listens",
	"transcription.provider":                       "Service",
	"ui.theme":                                     "Theme",
	"ui.textSize":                                  "Text size",
	"ui.firstRunDone":                              "First page answered",
	"network.enabled":                              "Other machines can connect",
	"network.listen":                               "Address for other machines",
	"network.discovery":                            "Found on the local network",
	"agents.list":                                  "More agents",
	"agents.bindings":                              "Who answers where",
	"agents.defaultHeartbeat.every":                "Heartbeat",
	"agents.defaultHeartbeat.prompt":               "What the heartbeat says",
	"agents.defaultHeartbeat.target":               "Where the heartbeat reports",
	"agents.defaultHeartbeat.activeHours.start":    "Heartbeat from",
	"agents.defaultHeartbeat.activeHours.end":      "Heartbeat until",
	"agents.defaultHeartbeat.activeHours.timezone": "Time zone of the heartbeat",
	"compaction.enabled":                           "Shorten long chats",
	"compaction.reserveTokens":                     "Room for the answer",
	"compaction.keepRecentTokens":                  "Newest part that stays",
	"compaction.extractMemories":                   "Keep what is worth remembering",
	"cron.enabled":                                 "Schedules run",
	"cron.maxJobs":                                 "Most schedules",
	"cron.maxRunsPerJobHistory":                    "Past runs kept",
	"cron.maxConcurrentRuns":                       "Runs at the same time",
	"channels.*.dmPolicy":                          "Who may write",
	"channels.*.allowFrom":                         "People who are listed",
	"channels.*.owners":                            "People who command",
	"skills.entries.*.enabled":                     "May be used",
	"skills.entries.*.always":                      "Always told",
	"skills.entries.*.requires.capabilities":       "What a machine must be able to do",
}

// groups are the titles of the first parts of paths.
var groups = map[string]string{
	"model": "Model", "apiKeys": "Keys", "providers": "Providers", "timeouts": "Time limits", "auth": "Gateway", "agent": "Agent", "approvals": "Questions to you",
	"toolApproval": "Rules for tools", "systemPrompt": "Agent", "session": "Chats", "userTimezone": "General", "ui": "Windows", "network": "Network",
	"agents": "Agents and heartbeat", "compaction": "Shortening of chats", "cron": "Schedules", "channels": "Channels", "skills": "Skills", "transcription": "Speech to text",
}

// units are the units of numbers, where the title does not contain them.
var units = map[string]string{
	"agent.maxSteps": "steps", "session.defaultResetPolicy.atHour": "o'clock", "session.defaultResetPolicy.idleMinutes": "minutes", "compaction.reserveTokens": "tokens",
	"compaction.keepRecentTokens": "tokens", "cron.maxJobs": "schedules", "cron.maxRunsPerJobHistory": "runs", "cron.maxConcurrentRuns": "runs", "ui.textSize": "times normal",
}

func groupOf(path string) string {
	top, _, _ := strings.Cut(path, ".")
	return groups[top]
}
