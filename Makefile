# Fairlead. `make run` starts it, `make test` runs every test; both install what they need first (packaging/deps.sh).

VERSION ?= $(shell sed -n 's/^Version = "\(.*\)"/\1/p' FyneApp.toml)
COMMIT  ?= $(shell git describe --always --dirty --exclude '*' 2>/dev/null)
LDFLAGS := -s -w -X fairlead/gateway.Version=$(VERSION) -X fairlead/gateway.Commit=$(COMMIT) -X main.version=$(VERSION) -X main.commit=$(COMMIT)
GO      ?= go
# Paths of this clone would be part of each compiled package, so that no other clone could use it from the cache.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)
# The release tag of Fyne's thread model; without it Fyne checks at run time that widgets are touched on its own thread.
# No animations: a blinking cursor alone takes an eighth of a core where the graphics are painted in software.
GUITAGS := -tags migrated_fynedo,no_animations
TARGETS := linux/amd64 linux/arm64 linux/arm windows/amd64 windows/arm64 darwin/amd64 darwin/arm64 freebsd/amd64 freebsd/arm64
# Tests that kill programs hundreds of times, decide tens of thousands of calls, call every method of a gateway, parse megabytes of hostile text,
# make ten thousand calls, press keys on a thousand questions, compare searches with slow ones, run 240 commands of others, try hundreds of attacks and
# profiles of shells one after the other, or read all sources. They run without the race detector, with which they take up to ten times as long: a killed
# program reports no race.
LONG := TestNoAcknowledgedMessageIsLostByKill|TestKillDuringAnyToolLeavesNothingHalfDone|TestKillsLeaveNoJobStuckAndRunNoJobTwice|TestSavedRuleAllowsOnlyWhatItsPreviewListed|TestNoKillCorruptsAFile|TestEveryFieldTakesHostileJSON|TestANodeOutlivesHostileEvents|TestNothingIsAcknowledgedBeforeItIsStored|TestNoCommandWritesAProtectedFile|TestNoCommandOfAnOrdinaryUserWritesAProtectedFile|TestNoCommandReadsASecret|TestNoCommandOfAnOrdinaryUserReadsASecret|TestEverydayCommandsAreNotDisturbed|TestTenThousandCallsAtOnce|TestRobotNeverAllows|Test(Glob|Scan|Search)AgreesWith|TestScan(SkipsHarmlessHoles|ShowsTheContext)|TestACall(OutlivesTwoKills|AfterBothKills)|TestListsNameExistingTests|TestProfilesDecideOnlyVariables|TestNoWayToWriteAProtectedFile|TestEveryProgramsFailureIsExplained|TestCommandsReadNoSecretOfTheTable|TestProtectedFilesSurviveEveryAttack|TestFilesAreProtectedFromTheOrdinaryUser|TestExpressionsFindTheLinesThatRipgrepFinds|TestEverySecretAsksAndIsLeftOutOfSearches
# The race detector watches everything but libraries that only compute, without goroutines or shared memory: the engine of the database, which is C made into Go,
# fonts and pictures, highlighting, and the parser of shells. When they are watched too, they take most of the processor time of the tests.
UNWATCHED := modernc.org github.com/go-text golang.org/x/image github.com/alecthomas github.com/dlclark mvdan.cc
# The checks of unsafe pointers that come with the detector are for this module's own code: in the libraries, such as reflect, they take an eighth of the time.
RACE := -race -gcflags=all=-d=checkptr=0 -gcflags=fairlead/...= $(foreach p,$(UNWATCHED),'-gcflags=$(p)/...=-race=false -d=checkptr=0')
# The linter has vetted the tests, and nobody opens them in a debugger.
QUICK := -vet=off -ldflags=-w
# A program under the race detector waits for a second before it ends, and so does each program that a test starts.
export GORACE ?= atexit_sleep_ms=0
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.6.2

.PHONY: run app windows bundle headless nodes test race detector long lint wine conformance api services bench transfers golden fuzz desktop cross clean

run: ## build and start the app; without a display, the gateway, the node and a chat in this terminal
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname -s)" != Linux ]; then \
	  $(MAKE) --no-print-directory app && exec ./fairlead-desktop $(ARGS); \
	else \
	  $(MAKE) --no-print-directory headless && exec ./fairlead chat --local $(ARGS); \
	fi

app: ## the desktop program
	@packaging/deps.sh build
	$(GO) build $(GUITAGS) -ldflags "$(LDFLAGS)" -o fairlead-desktop .

windows: ## the desktop program for Windows, built here; the first build takes long
	@packaging/deps.sh windows
	GOOS=windows GOARCH=amd64 CGO_ENABLED=1 CC=x86_64-w64-mingw32-gcc $(GO) build $(GUITAGS),accessibility -ldflags "$(LDFLAGS) -H windowsgui" -o fairlead-desktop.exe .

bundle: GUITAGS := $(GUITAGS),accessibility
bundle: app ## build/Fairlead.app, on macOS: notifications have buttons only in a bundle
	packaging/macos-app.sh fairlead-desktop build

headless: ## the program without a screen, and the node alone; no C compiler needed
	CGO_ENABLED=0 $(GO) build -ldflags "$(LDFLAGS)" -o fairlead ./gateway/cmd/fairlead
	CGO_ENABLED=0 $(GO) build -ldflags "$(LDFLAGS)" -o fairlead-node ./node/cmd/fairlead-node

nodes: ## the node for every system, beside the gateway, which hands them out to machines that are paired
	@for t in $(TARGETS); do \
	  o=fairlead-node-$${t%/*}-$${t#*/}; case $$t in windows/*) o=$$o.exe;; esac; echo "build $$o"; \
	  GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) build -ldflags "$(LDFLAGS)" -o $$o ./node/cmd/fairlead-node || exit 1; \
	done

# The race detector computes; the others wait for programs most of the time: three stages run at a time, and the longest begin. What a command prints
# appears when it ends.
test: ## everything: checks, tests with the race detector, builds for every system, the desktop test
	@packaging/deps.sh test
	@packaging/llama-server.sh "$${XDG_CACHE_HOME:-$$HOME/.cache}/fairlead/llama-server" || \
	  echo "NOTE: llama-server cannot be had here; the tests that need it say so and are skipped"
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory app headless # a stage that waits for them would start last
	@$(MAKE) --no-print-directory -j3 --output-sync=line detector desktop long cross wine conformance api services BUILT=yes TARGETS="linux/arm64 windows/amd64 darwin/arm64 freebsd/amd64" || \
	  { echo "make test failed: look for FAIL and *** above" >&2; exit 1; }

race: detector long ## all tests without the desktop test, with the race detector where it can find something

# Four packages at a time, because many tests wait for programs more than they compute. Those of the node wait longest: they begin first.
detector:
	@packaging/deps.sh build
	$(GO) test -p 4 $(RACE) $(QUICK) -timeout 30m -skip '$(LONG)' $$($(GO) list ./node/... ./... | grep -v '/gateway/policy$$')

# Package policy decides without goroutines of its own: its corpora run without the detector, and packages that share it run with it.
long:
	@packaging/deps.sh build
	$(GO) test $(QUICK) -timeout 20m ./gateway/policy
	$(GO) test $(QUICK) -timeout 20m -run '$(LONG)' ./gateway ./gateway/approval ./gateway/transfer ./node ./node/sandbox ./node/search ./node/shell ./node/tools
	$(GO) test $(GUITAGS) $(QUICK) -run '$(LONG)' ./app/inbox

lint: ## formatting, vet, staticcheck and other linters (.golangci.yml), licences, generated docs
	@packaging/deps.sh build
	packaging/lint.sh $(GO) run $(GOLANGCI) run ./...
	$(GO) run ./packaging/notices -check
	$(GO) run ./packaging/protocol -check

cross: ## compile the headless programs for every system they ship for
	@for t in $(TARGETS); do \
	  echo "build $$t"; \
	  GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) build -ldflags=-w -o /dev/null ./gateway/cmd/fairlead ./node/cmd/fairlead-node || exit 1; \
	done

desktop: $(if $(BUILT),,app headless) ## drive the built program in a real X desktop, as a person would
	packaging/desktop-test.sh

api: ## check the OpenAPI document and call the REST interface at random, where the programs for it can be had
	@GO="$(GO)" packaging/api-test.sh

conformance: $(if $(BUILT),,headless) ## let independent MCP programs judge the server, its sign-in and the client, and the agent use servers of others, where npm can be had
	@GO="$(GO)" packaging/conformance.sh
	@GO="$(GO)" packaging/mcp-servers.sh

services: $(if $(BUILT),,headless) ## let a browser visit published apps of others, where it can be had
	@GO="$(GO)" packaging/services-test.sh

wine: ## run the Windows code of the node under Wine, where Wine can be had
	@GO="$(GO)" packaging/wine-test.sh

bench: ## the numbers of docs/performance.md
	$(GO) test -run '^$$' -bench . -benchmem ./...

transfers: ## the long tests of transfers (root): 200 under kills and cuts, 100,000 files, a sparse file of 20 GiB; then beside scp, and croc with CROC=PROGRAM
	nice packaging/transfer-test.sh
	@$(MAKE) --no-print-directory headless
	packaging/compare-transfers.sh

golden: ## rewrite golden files; read the diff
	$(GO) test ./gateway/surface/rpc/... ./app ./app/inbox ./app/settings ./app/transcript ./app/widgets -update

fuzz: ## each fuzz target for a minute
	@for d in $$(git grep -l 'func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -ho 'func Fuzz[A-Za-z0-9_]*' $$d/*_test.go | sed 's/func //'); do \
	    $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime 60s ./$$d || exit 1; done; done

clean:
	rm -f fairlead fairlead-desktop fairlead-desktop.exe fairlead-node fairlead-node-*
