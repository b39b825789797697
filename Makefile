# Trellis. `make` explains itself; see CONTRIBUTING.md for when to use what.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# go.work is for editors. Everything here is built as it is shipped: each module by its own go.mod.
export GOWORK := off
# One configuration for linters, tests and the programs of tests, so that Go compiles Kubernetes and Gardener once for all of them.
export CGO_ENABLED := 0

# Compilers of Kubernetes and Gardener take a third less processor time with a lazier garbage collector, and up to 1.5 GB of memory.
GO       := GOGC=400 go
ROOT     := $(CURDIR)
CACHE    := $(ROOT)/.cache
TOOLS    := $(CACHE)/tools
MODULES  := . apis charts images cmd/gardenet-service-router tools/awsmodel e2e e2e/calico e2e/nodeimage/programs
COMMANDS := $(notdir $(wildcard cmd/*))
# Where the API server for tests is kept; TRELLIS_ASSETS moves it, e.g. to share it between checkouts.
ASSETS   := $(abspath $(or $(TRELLIS_ASSETS),$(CACHE)/envtest))
export KUBEBUILDER_ASSETS := $(ASSETS)
export TRELLIS_ASSETS     := $(ASSETS)

# The date is the commit's, so that the same commit gives the same binary.
BUILDINFO := github.com/trellis-garden/trellis/internal/buildinfo
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT    := $(shell git describe --always --abbrev=40 --dirty --exclude '*' 2>/dev/null || echo unknown)
DATE      := $(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || echo unknown)
LDFLAGS   := -s -w -X $(BUILDINFO).version=$(VERSION) -X $(BUILDINFO).commit=$(COMMIT) -X $(BUILDINFO).date=$(DATE)

# Runs a command in each module and fails after the last one if it failed in any.
define in-each-module
@failed=; for module in $(MODULES); do (cd $$module && $(1)) || failed="$$failed $$module"; done; \
if [ -n "$$failed" ]; then echo "failed in:$$failed" >&2; exit 1; fi
endef

say = @printf '\033[1m==> %s\033[0m\n' $(1)

# Without verify-modules: go mod tidy would download all that Hugo is made of.
fmt verify-fmt lint: MODULES += site

##@ Look around

.PHONY: help
help: ## Explain the targets (default)
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z0-9-]*:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: envtest-assets ## Show the life of Infrastructure, ControlPlane, Network and Worker; CLOUD=aws does so in AWS, NETWORK=gardenet with our own network plugin; DEMO_EXIT=1 cleans up and exits
	$(call say,'building the demo$(comma) which takes minutes the first time')
	@cd e2e && $(GO) build -o $(CACHE)/e2e/ ./cmd/demo && exec $(CACHE)/e2e/demo $(if $(CLOUD),--cloud '$(CLOUD)') $(if $(NETWORK),--network '$(NETWORK)')

##@ Build

.PHONY: build
build: $(addprefix bin/,$(COMMANDS)) ## Build static, stripped binaries into bin/

.PHONY: FORCE
bin/%: FORCE
	$(call say,'building $@ $(VERSION)')
	@cd cmd/$* && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o '$(ROOT)/$@' .

.PHONY: images
images: ## Build an image of each binary, with its bill of materials, into bin/images; PUSH=<repository> pushes them, SIGN_KEY=<file> signs them
	$(call say,'building images $(VERSION)')
	@cd images && $(GO) build -trimpath -buildvcs=false -o $(CACHE)/bin/images ./cmd/images
	@$(CACHE)/bin/images build --version '$(VERSION)' --commit '$(COMMIT)' --date '$(DATE)' --out bin/images \
	  $(if $(PLATFORM),--platform '$(PLATFORM)') $(foreach b,$(BINARY),--binary $(b)) $(if $(PUSH),--push '$(PUSH)') \
	  $(if $(SIGN_KEY),--sign-key '$(SIGN_KEY)')

.PHONY: images-verify
images-verify: ## Verify the signatures of the images, charts, archives and files in ARGS= with KEY=<public key>
	@cd images && $(GO) build -trimpath -buildvcs=false -o $(CACHE)/bin/images ./cmd/images
	@$(CACHE)/bin/images verify --key '$(KEY)' $(ARGS)

.PHONY: charts
charts: ## Push all charts to PUSH=<repository>/charts, and write them with their digests to bin/charts (OUT=); VERSION= names them, SIGN_KEY=<file> signs them
	$(call say,'charts $(VERSION)')
	$(call publish,charts,bin/charts)

.PHONY: release
release: ## Make a release: VERSION=v1.2.3 PUSH=<repository> SIGN_KEY=<file>; files go to bin/release (OUT=); SNAPSHOT=1 for a trial with changes
	$(call say,'release $(VERSION)')
	$(call publish,publish,bin/release)

# Runs a command of images/cmd/release. Its folder has to be empty; the one in bin/ is.
define publish
@cd images && $(GO) build -trimpath -buildvcs=false -o $(CACHE)/bin/release ./cmd/release
@$(if $(OUT),,rm -rf $(2))
@$(CACHE)/bin/release $(1) --version '$(VERSION)' --push '$(PUSH)' --out '$(or $(OUT),$(2))' $(if $(SIGN_KEY),--sign-key '$(SIGN_KEY)') \
  $(if $(PLATFORM),--platform '$(PLATFORM)') $(if $(TOOL_PLATFORM),--tool-platform '$(TOOL_PLATFORM)') $(foreach b,$(BINARY),--binary $(b)) $(if $(SNAPSHOT),--snapshot)
endef

# make VERSION=v1.2.3 OUT=<folder> registrations writes those of a release; what is committed is of no version.
.PHONY: registrations
registrations: ## Generate charts/registrations (VERSION= and OUT= for a release); with CHECK=<kubeconfig> check the registrations of a garden
	@cd charts && $(GO) run ./cmd/registrations $(if $(CHECK),check --kubeconfig '$(abspath $(CHECK))',generate \
	  $(if $(filter command,$(firstword $(origin VERSION))),--version '$(VERSION)') $(if $(OUT),--out '$(abspath $(OUT))')) $(ARGS)

.PHONY: envtest-assets
envtest-assets: ## Download etcd and kube-apiserver, or build them, once (half a minute, or 4 minutes)
	@cd e2e && $(GO) run ./cmd/assets >/dev/null

.PHONY: e2e-assets
e2e-assets: ## Build these and the other programs of tests and demo, from Kubernetes, Gardener and Calico, once (10 to 14 minutes)
	@cd e2e && $(GO) run ./cmd/assets control-plane aws calico machines kubectl >/dev/null

##@ Documentation

.PHONY: site
site: $(TOOLS)/hugo ## Render the documentation as a site with search into bin/site, and check its links
	$(call say,'rendering the documentation')
	@cd site && $(TOOLS)/hugo build --destination '$(ROOT)/bin/site' --cacheDir '$(CACHE)/hugo' --cleanDestinationDir --noBuildLock --panicOnWarning >/dev/null
	$(call say,'every link leads somewhere')
	@cd site && go test ./... && go run ./cmd/check -repository '$(ROOT)' '$(ROOT)/bin/site'
	@echo '$(ROOT)/bin/site'

.PHONY: site-serve
site-serve: $(TOOLS)/hugo ## Serve the documentation on http://localhost:1313, rendered again after each change
	@cd site && exec $(TOOLS)/hugo server --cacheDir '$(CACHE)/hugo' --noBuildLock --renderToMemory

##@ Test

# Packages without concurrency of their own, whose tests take several times as long with the race detector. The Network contract runs with it in the
# suite of the example plugin.
PURE := /internal/(architecture|controllerinstallation/rollout|network/(calico|gardenet)|gardenet/(nft|policy|desired))(/|$$)
# A package whose exploration is shorter with the race detector, and complete without it.
LONG := /internal/infrastructure/aws$$
UNIT_MODULES := . apis charts images cmd/gardenet-service-router tools/awsmodel

.PHONY: unit
unit: $(TOOLS)/gotestsum ## Run the tests that need Go only, a sample of the longest of them: no API server and no other program
	$(call say,'tests that start no API server$(comma) of $(words $(UNIT_MODULES)) modules')
	@for module in $(UNIT_MODULES); do (cd $$module && PACKAGES="$$($(ROOT)/tools/unit-packages)" $(ROOT)/tools/test -short); done

# What tests in e2e read besides their module: go test does not see that these files have changed, but that the variables have.
e2e-inputs = TRELLIS_SOURCES=$$(cat $$(find ../cmd ../internal ../apis ../charts ../go.mod ../go.sum -type f) | sha256sum) \
  TRELLIS_DOCS=$$(cat $$(find ../README.md ../CONTRIBUTING.md ../Makefile ../docs -type f) | sha256sum)

# With PKG, make test runs that package alone, and with RUN those of its tests.
ifdef PKG
.PHONY: test
test:
	@tools/test-package '$(PKG)' $(if $(RUN),-run '$(RUN)')
else
.PHONY: test
test: e2e-assets $(TOOLS)/gotestsum ## Run all tests: units, contract suites, and the binaries against a real API server; PKG= and RUN= for one package and test
	@rm -f $(CACHE)/flaky-tests.txt
	$(call say,'root module: units$(comma) the contract suite$(comma) the import law; with the race detector')
	@TRELLIS_REPORT=$(CACHE)/suites.txt CGO_ENABLED=1 PACKAGES="$$(go list ./... | grep -vE '$(PURE)' | xargs)" tools/test -race -timeout 40m
	@tail -n 1 $(CACHE)/suites.txt
	$(call say,'root module: packages of pure functions and the longest suite$(comma) without the race detector')
	@TRELLIS_REPORT=$(CACHE)/suites.txt PACKAGES="$$(go list ./... | grep -E '$(PURE)|$(LONG)' | xargs)" tools/test -timeout 40m
	$(call say,'apis: decoding$(comma) defaults$(comma) validation')
	@cd apis && ../tools/test
	$(call say,'charts: what they become$(comma) registrations$(comma) rights; images')
	@cd charts && ../tools/test
	@cd images && ../tools/test
	@cd tools/awsmodel && ../test
	$(call say,'cmd/gardenet-service-router: rules of Services$(comma) verified and handed over')
	@cd cmd/gardenet-service-router && ../../tools/test
	$(call say,'e2e/nodeimage/programs: what lets nodes start without all rights')
	@cd e2e/nodeimage/programs && ../../../tools/test
	$(call say,"e2e/calico: Calico's own code reads what the driver for it renders")
	@cd e2e/calico && ../../tools/test -count=1 # go test would not see that the files of another module have changed
	$(call say,'e2e: binaries as processes$(comma) driven by the library that gardenlet uses')
	@cd e2e && $(e2e-inputs) ../tools/test -p 3 -timeout 40m # they wait more than they compute
	@if [ -s $(CACHE)/flaky-tests.txt ]; then echo 'Tests that passed only when run again, which is a defect:'; cat $(CACHE)/flaky-tests.txt; fi
endif

.PHONY: docs-test
docs-test: e2e-assets $(TOOLS)/gotestsum ## Test the commands on README.md and docs: run, parse or compare them, and compare the demo with its samples
	$(call say,'charts: pages about installation')
	@cd charts && PACKAGES='./markdown ./cmd/registrations' ../tools/test -run 'TestPages|TestBlocks|TestSpans|TestSection'
	$(call say,'e2e: all blocks of commands$(comma) and the demo')
	@cd e2e && $(e2e-inputs) PACKAGES=./docs ../tools/test -timeout 40m

.PHONY: bench
bench: envtest-assets ## Print what everything costs, beside budgets and the upstream extension; SCALE=1,10,100,500,1000 shoots, RESULTS=<folder> for pages
	@cd e2e && $(GO) build -o $(CACHE)/e2e/ ./cmd/bench && exec $(CACHE)/e2e/bench --dir '$(OPENSTACK)' \
	  $(if $(SCALE),--scale '$(SCALE)') $(if $(RESULTS),--results '$(abspath $(RESULTS))') $(ARGS)

.PHONY: soak
soak: envtest-assets ## Run 200 shoots for 10 minutes under restarts, errors of the cloud, killed leaders and wrong clocks; ARGS= for its flags
	@cd e2e && $(GO) build -o $(CACHE)/e2e/ ./cmd/soak && exec $(CACHE)/e2e/soak $(ARGS)

##@ With AWS' command line client (Debian: awscli)

.PHONY: awscli-test
awscli-test: ## Create, show and delete everything in the fake AWS by AWS' own client
	@command -v aws >/dev/null || { echo "This needs AWS' command line client: apt-get install awscli" >&2; exit 1; }
	@go test -tags awscli -count=1 -v -run TestAWSCLI ./internal/cloud/aws/fake

##@ With AWS' controller for load balancers (built from source, 3 minutes)

.PHONY: loadbalancers-test
loadbalancers-test: envtest-assets ## Run the aws-load-balancer-controller in a shoot's control plane on the fake AWS
	@cd e2e && $(GO) run ./cmd/assets aws-load-balancer-controller >/dev/null
	@cd e2e && go test -tags loadbalancers -count=1 -v -run TestLoadBalancerController ./cloudcontrollers

##@ With packets, on this machine's kernel (root; Debian: nftables)

.PHONY: e2e-gardenet
e2e-gardenet: envtest-assets ## Run agents and service routers of gardenet on two nodes that are network namespaces, and send packets between their pods; RUN= for one test
	@cd e2e && go test -tags gardenet -count=1 -v -timeout 20m $(if $(RUN),-run '$(RUN)') ./gardenet

##@ On kind (Docker)

.PHONY: e2e-kind
e2e-kind: ## Install everything in a kind cluster, and scale, upgrade, kill, migrate and uninstall it there; prints what it needs
	@cd e2e && $(GO) run ./cmd/kind needs
	@cd e2e && $(GO) run ./cmd/kind node-image
	@cd e2e && $(GO) run ./cmd/assets control-plane machines kubectl >/dev/null
	$(call say,'an image of ours is loaded and runs')
	@cd images && go test -tags kind -run Docker -count=1 ./cmd/images
	$(call say,'the suite on kind')
	@cd e2e && go test -tags kind -p 1 -count=1 -timeout 60m -v ./kind/...

.PHONY: e2e-netpol
e2e-netpol: ## Run upstream's tests of NetworkPolicies and networks on gardenet in a kind cluster; FAMILY=ipv6 or dual, PROXY=nftables or none, RUN= for one test; prints what it needs
	@cd e2e && $(GO) run ./cmd/kind needs
	@cd e2e && TRELLIS_NETPOL_FAMILY='$(FAMILY)' TRELLIS_NETPOL_PROXY='$(PROXY)' go test -tags netpol -count=1 -timeout 180m -v $(if $(RUN),-run '$(RUN)') ./netpol

.PHONY: kind-node-image
kind-node-image: ## Build a node image for kind: from kindest/node if it can be pulled, else from source (12 minutes)
	@cd e2e && $(GO) run ./cmd/kind node-image

##@ A whole landscape, in namespaces of its own (root)

.PHONY: e2e-landscape
e2e-landscape: ## Run Gardener with our controllers, and lead a Shoot through its life; CLOUD=openstack for a real one, STEPS=none or a list, SEEDS=2, WITHOUT=network, KEEP=1 to look around, DIR=
	@cd e2e && $(GO) build -o $(CACHE)/e2e/ ./cmd/landscape && exec $(CACHE)/e2e/landscape \
	  $(if $(CLOUD),--cloud '$(CLOUD)') $(if $(STEPS),--steps '$(STEPS)') $(if $(SEEDS),--seeds '$(SEEDS)') $(if $(WITHOUT),--without '$(WITHOUT)') $(if $(KEEP),--keep) $(if $(DIR),--dir '$(abspath $(DIR))')

##@ Against a real OpenStack (Debian 12, root)

# A cloud of your own: OS_CLOUD names an administrator's entry in clouds.yaml. Otherwise one is brought up on this machine.
OPENSTACK := $(abspath $(or $(TRELLIS_OPENSTACK),/var/lib/trellis-openstack))
ifdef OS_CLOUD
openstack-or-yours := @true
else
openstack-or-yours = @$(MAKE) openstack-up
e2e-openstack: export OS_CLIENT_CONFIG_FILE := $(OPENSTACK)/clouds.yaml
e2e-openstack: export OS_CLOUD := admin
endif

.PHONY: openstack-up
openstack-up: ## Start a real OpenStack on loopback (4 minutes, later less than one)
	@cd e2e && $(GO) build -o $(CACHE)/e2e/ ./cmd/openstack && $(CACHE)/e2e/openstack up --dir '$(OPENSTACK)'

.PHONY: openstack-down
openstack-down: ## Stop it and remove its state; the packages stay
	@cd e2e && $(GO) build -o $(CACHE)/e2e/ ./cmd/openstack && $(CACHE)/e2e/openstack down --dir '$(OPENSTACK)'

.PHONY: e2e-openstack
e2e-openstack: envtest-assets ## Test the fake, controllers and machine driver against it; RECORD=zed records its responses
	$(openstack-or-yours)
	$(call say,'the fake and the real cloud behave alike')
	@cd e2e/openstack && go test -tags openstack -count=1 -timeout 60m -run TestConformance $(if $(RECORD),-record=$(RECORD))
	$(call say,'the Infrastructure suite on the real cloud')
	@cd e2e/openstack && go test -tags openstack -count=1 -timeout 90m -v -run TestInfrastructure
	$(call say,'machines on the real cloud')
	@go test -tags openstack -count=1 -timeout 30m -v -run TestRealCloud ./internal/machine/openstack
	$(call say,'what it costs on both clouds')
	@cd e2e && $(GO) build -o $(CACHE)/e2e/ ./cmd/bench && $(CACHE)/e2e/bench --cloud "$$OS_CLOUD" --only infrastructure
	@echo 'The cloud stays up. make openstack-down stops it and removes its state.'

##@ Change

.PHONY: generate
generate: $(TOOLS)/.stamp ## Regenerate code and reference pages
	@cd apis && $(TOOLS)/controller-gen object paths=./... && go generate ./...
	@go generate ./internal/...
	@cd charts && $(GO) run ./cmd/registrations generate >/dev/null && go generate ./...

.PHONY: fmt
fmt: $(TOOLS)/.stamp ## Format all Go code
	$(call in-each-module,$(TOOLS)/golangci-lint fmt --config $(ROOT)/.golangci.yml)

.PHONY: lint
lint: $(TOOLS)/.stamp ## Run the linters that .golangci.yml names
	$(call say,'linters have nothing to say')
	$(call in-each-module,$(TOOLS)/golangci-lint run --config $(ROOT)/.golangci.yml)
	@$(TOOLS)/actionlint

.PHONY: verify
verify: verify-generate verify-fmt verify-modules lint ## Fail if generate, fmt or go mod tidy would change anything, or lint complains

.PHONY: verify-generate verify-fmt verify-modules
verify-generate: $(TOOLS)/.stamp
	$(call say,'generated files are up to date')
	@tools/unchanged-by make generate

verify-fmt: $(TOOLS)/.stamp
	$(call say,'code is formatted')
	$(call in-each-module,$(TOOLS)/golangci-lint fmt --diff --config $(ROOT)/.golangci.yml)

verify-modules:
	$(call say,'modules are tidy')
	$(call in-each-module,go mod tidy -diff)

.PHONY: clean
clean: ## Remove bin/ and .cache/, but not Go's own caches
	@rm -rf bin .cache

# It runs tests a second time that have failed, see tools/test.
$(TOOLS)/gotestsum: tools/go.mod tools/go.sum
	$(call say,'building gotestsum$(comma) once (seconds)')
	@mkdir -p $(TOOLS)
	@cd tools && $(GO) build -buildvcs=false -ldflags '-s -w' -o $(TOOLS)/ gotest.tools/gotestsum
	@touch $@

$(TOOLS)/hugo: site/go.mod site/go.sum
	$(call say,'building hugo$(comma) once (2 to 5 minutes)')
	@mkdir -p $(TOOLS)
	@cd site && go build -trimpath -buildvcs=false -ldflags '-s -w' -o $(TOOLS)/ github.com/gohugoio/hugo
	@touch $@

# Tools are pinned in a module of their own, so that their dependencies never become ours.
$(TOOLS)/.stamp: tools/go.mod tools/go.sum
	$(call say,'building tools$(comma) once (2 to 5 minutes)')
	@mkdir -p $(TOOLS)
	@cd tools && $(GO) build -trimpath -buildvcs=false -ldflags '-s -w' -o $(TOOLS)/ tool
	@touch $@

comma := ,
