package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// kind is how a block is tested. Whatever the kind, except for demo, its commands are parsed and compared with the checkout.
type kind string

const (
	// run: TestRun runs the commands, with clusters, in a copy of the checkout.
	run kind = "run"
	// demo: each line is one that the demo prints, see TestDemo.
	demo kind = "demo"
	// followed: another test follows the block, or runs the same commands.
	followed kind = "followed"
	// checked: the commands take too long here, and consist only of what the checkout knows: targets, variables, packages and tests.
	checked kind = "checked"
	// parsed: the commands are only parsed.
	parsed kind = "parsed"
)

// claim says how a block is tested.
type claim struct {
	kind kind
	// by is the test that follows a block: the folder of its package, a colon, and its name.
	by string
	// reason tells why a block is only parsed, or too heavy to be run.
	reason string
	// before and after are scripts that TestRun runs around the block, e.g. to create what it changes, and to see that it did.
	before, after string
	// replace are texts, e.g. names that the reader fills in, with what TestRun takes for them.
	replace map[string]string
	// files are files in the working directory, each with the first line of the block of the page that is its content.
	files map[string]string
}

// claims returns what is known of all blocks, by page and by the block's first line, which is unique on a page.
func claims() map[string]map[string]claim {
	moved := claim{kind: followed, by: "e2e/kind/move:TestMoveGuide"}
	return map[string]map[string]claim{
		"CONTRIBUTING.md": {
			"make verify   # generated files, formatting, tidy modules, linters: each fails if it would change or complain": {
				kind: checked, reason: "it is what continuous integration runs, this test among it",
			},
		},
		"docs/reference/aws-behaviour.md": {
			`TRELLIS_AWS_CONFORMANCE=1 AWS_REGION=eu-west-1 AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... \`: {
				kind: parsed, reason: "a real account, which costs money; internal/cloud/aws/conformance runs the same behaviours against the fake",
			},
		},
		"README.md": {
			"make demo": {kind: followed, by: "e2e/docs:TestDemo"},
			"infrastructure/demo    Create     Processing  ████████████████░░░░  83 %  ensuring router interface in shoot--dev--demo": {kind: demo},
			"VERSION=v0.1.0": {kind: followed, by: "charts/cmd/registrations:TestPages_ReleaseBlocks"},
		},
		"docs/getting-started.md": {
			"make demo     # real API servers of seed and shoot, a fake OpenStack: shows the reconciliation of four extension objects": {
				kind: followed, by: "e2e/docs:TestDemo",
			},
			"infrastructure/demo    Create     Processing  ████████████████░░░░  83 %  ensuring router interface in shoot--dev--demo": {kind: demo},
			"cloud-controller-manager  Deployment": {kind: demo},
			"worker/demo            Create     Processing  ██████████░░░░░░░░░░  50 %  waiting for machines (pool cpu: 1 of 3 machines joined; ...)": {kind: demo},
			"Reconcile of network succeeded; the network is being changed, waiting for the cloud to route to the pods of all nodes: ...":             {kind: demo},
		},
		"docs/concepts/contracts.md": {
			"$ kubectl apply -f shoot.yaml": {kind: parsed, reason: "an invalid shoot; e2e/admission creates such shoots, and compares the messages"},
			"$ controllerinstallation-controller --status --kubeconfig garden.kubeconfig": {
				kind: parsed, reason: "a revision that has failed on a seed; docs/operations/staged-rollouts.md has the same command",
			},
		},
		"docs/development/testing.md": {
			"GOWORK=off go test ./internal/controlplane/{component,csi,openstack} ./internal/network/calico -update && git diff --stat": {
				kind: checked, reason: "the tests run without -update everywhere",
			},
			"(cd e2e && GOWORK=off go test ./internal/components -update)":           {kind: checked, reason: "the tests run without -update everywhere"},
			"make e2e-openstack RECORD=zed                              # all of it": {kind: checked, reason: "it needs a real OpenStack"},
		},
		"docs/development/releases.md": {
			"make release VERSION=v0.1.0 PUSH=registry.example.org/trellis SIGN_KEY=signing.key": {
				kind: checked, reason: "it builds all binaries for two platforms; images/cmd/release makes a release of one in its test, e2e/kind/release of all",
			},
		},
		"docs/performance/README.md": {
			"make bench                                       # 1, 10 and 100 shoots": {
				kind: checked, reason: "it takes an hour; e2e/cmd/soak runs a short soak in its test",
			},
		},
		"docs/operations/install.md": {
			"VERSION=v0.1.0": {kind: followed, by: "charts/cmd/registrations:TestPages_ReleaseBlocks"},
			"VERSION=v0.1.0 REPOSITORY=registry.example.org/trellis": {kind: followed, by: "charts/cmd/registrations:TestPages_InstallBlocks"},
			`make images-verify KEY=bin/images/signing-key.pub ARGS="$REPOSITORY/worker-controller:$VERSION bin/images/worker-controller.tar"`: {
				kind: parsed, reason: "it needs signed images in a registry, and cosign",
			},
			`GARDEN=garden.kubeconfig REGISTRATIONS=bin/registrations   # written as above, or those of a release`: {
				kind:   run,
				before: gardenStatuses,
				after: `kubectl --kubeconfig "$GARDEN" get controllerregistrations infrastructure controlplane network worker provider-openstack
kubectl --kubeconfig "$GARDEN" -n garden-dev get shoot first`,
			},
		},
		"docs/operations/admission.md":       admissionClaims(),
		"docs/operations/secondaries.md":     secondaryClaims(),
		"docs/operations/staged-rollouts.md": rolloutClaims(),
		"docs/operations/gardenet.md": {
			"kubectl -n kube-system get pods -l app=gardenet-agent -o wide": {kind: parsed, reason: "a shoot with gardenet, whose agents need nodes"},
			"nft list table inet gardenet":                                  {kind: parsed, reason: "a node, as root"},
		},
		"docs/operations/security.md": {
			"kubectl label secret -n <namespace> -l name=ca-<binary>-webhook --overwrite issued-at-time=0": {
				kind:    run,
				replace: map[string]string{"<namespace>": "garden", "<binary>": "worker-controller"},
				before:  certificateAuthority("worker-controller"), after: renewed("worker-controller"),
			},
		},
		"docs/operations/migrate-from-upstream.md": {
			`kubectl --kubeconfig "$GARDEN" get controllerregistrations,controllerdeployments provider-openstack networking-calico -o yaml > before.yaml`: {
				kind: run,
				before: `for name in provider-openstack networking-calico; do
  kubectl --kubeconfig "$GARDEN" apply -f - <<END
{apiVersion: core.gardener.cloud/v1, kind: ControllerDeployment, metadata: {name: $name}, helm: {ociRepository: {ref: "registry.example.org/$name:1"}}}
---
{apiVersion: core.gardener.cloud/v1beta1, kind: ControllerRegistration, metadata: {name: $name}, spec: {deployment: {deploymentRefs: [{name: $name}]}}}
END
done`,
				after: `[ "$(grep -c '^  kind: Controller' before.yaml)" = 4 ]
kubectl --kubeconfig "$GARDEN" delete controllerregistrations,controllerdeployments provider-openstack networking-calico`,
			},
			"set -euo pipefail # this bash ends with the first command that fails":  {kind: followed, by: "charts/cmd/registrations:TestPages_MoveWithVersion"},
			`values networking-calico '{"replicaCount":0}'`:                         moved,
			`values provider-openstack '{"disableControllers":["infrastructure"]}'`: moved,
			"policy provider-openstack Always":                                      moved,
			"each controlplane called gardener-extension-controlplane":              moved,
			`values provider-openstack '{"disableWebhooks":[]}'`:                    moved,
			`values controlplane '{"replicaCount":0}'`:                              moved,
			`values infrastructure '{"replicaCount":0}'`:                            moved,
			`values network '{"replicaCount":0}'`:                                   moved,
		},
	}
}

func admissionClaims() map[string]claim {
	return map[string]claim{
		"make charts VERSION=$VERSION PUSH=$REPOSITORY": {
			kind: run, replace: chartsAreNotPushed(), after: `kubectl --kubeconfig "$RUNTIME" get extensions.operator.gardener.cloud`,
		},
		`make registrations VERSION=$VERSION OUT=bin/registrations ARGS="--image-repository $REPOSITORY --charts ../bin/charts"`: {
			kind:  run,
			files: map[string]string{"admission.yaml": "types: [openstack, aws, calico, gardenet, registrations]"},
			after: `kubectl --kubeconfig "$RUNTIME" --namespace garden get secret admission-garden`,
		},
		`kubectl --kubeconfig "$GARDEN" delete --ignore-not-found \`: {
			kind: run,
			before: `for kind in Validating Mutating; do
  kubectl --kubeconfig "$GARDEN" apply -f - <<END
{apiVersion: admissionregistration.k8s.io/v1, kind: ${kind}WebhookConfiguration, metadata: {name: gardener-extension-admission}}
END
done`,
			after: `[ -z "$(kubectl --kubeconfig "$GARDEN" get validatingwebhookconfigurations,mutatingwebhookconfigurations -o name | grep admission)" ]`,
		},
		`kubectl --kubeconfig "$RUNTIME" label secret -n garden -l name=ca-admission-webhook --overwrite issued-at-time=0`: {
			kind: run, before: certificateAuthority("admission"), after: renewed("admission"),
		},
	}
}

func rolloutClaims() map[string]claim {
	return map[string]claim{
		`kubectl --kubeconfig "$GARDEN" apply --server-side -f bin/registrations/controllerinstallation/rawchart.yaml # written as under Install`: {
			kind: run, after: `kubectl --kubeconfig "$GARDEN" get controllerregistration controllerinstallation`,
		},
		"make charts VERSION=$VERSION PUSH=$REPOSITORY": {
			kind:    run,
			replace: chartsAreNotPushed("<file>", "values.yaml"),
			before:  `echo "gardenAddress: https://api.garden.example.org" > values.yaml`,
			after:   `kubectl --kubeconfig "$RUNTIME" get extensions.operator.gardener.cloud -o yaml | grep -F api.garden.example.org`,
		},
		`make registrations VERSION=$VERSION OUT=bin/registrations ARGS="--image-repository $REPOSITORY --charts ../bin/charts"`: {
			kind:  run,
			files: map[string]string{"installations.yaml": "types: [trellis]"},
			after: `kubectl --kubeconfig "$RUNTIME" --namespace garden get secret installations-garden`,
		},
		"# Pause everything except the rollback of a bad revision. null continues.": {
			kind:    run,
			replace: map[string]string{"<revision>": "5d9c7f6b8a"},
			before:  `kubectl --kubeconfig "$GARDEN" apply --server-side -f bin/registrations/network/trellis.yaml`,
			after: `kubectl --kubeconfig "$GARDEN" get controllerdeployments.v1beta1.core.gardener.cloud network -o yaml > network.yaml
grep 'paused: true' network.yaml && grep 'installation.trellis.garden/retry: 5d9c7f6b8a' network.yaml`,
		},
		`kubectl --kubeconfig "$GARDEN" apply --server-side -f bin/registrations/network/trellis.yaml  # to the operator`: {
			kind:  run,
			after: `kubectl --kubeconfig "$GARDEN" get controllerdeployments.v1.core.gardener.cloud network -o jsonpath='{.helm.rawChart}' | grep -c .`,
		},
	}
}

// chartsAreNotPushed replaces the command that pushes charts, which images/cmd/release tests, and further texts, each by the next.
func chartsAreNotPushed(further ...string) map[string]string {
	all := map[string]string{"make charts": "make --dry-run charts"}
	for i := 0; i < len(further); i += 2 {
		all[further[i]] = further[i+1]
	}
	return all
}

// gardenStatuses does what Gardener's controllers of Projects and Shoots do, until the script ends: the clusters of TestRun have none.
const gardenStatuses = `set_status() {
  until kubectl --kubeconfig "$GARDEN" patch --namespace=garden-dev "$1" --subresource=status --type=merge -p "{\"status\":$2}"; do sleep 1; done
} >/dev/null 2>&1
{
  set_status project/dev '{"phase":"Ready"}'
  set_status shoot/first '{"lastOperation":{"type":"Create","state":"Succeeded","progress":100,"description":"","lastUpdateTime":"2026-01-01T00:00:00Z"}}'
} &
trap "kill $! 2>/dev/null || true" EXIT`

// certificateAuthority creates the Secret in which Gardener's secrets manager keeps the CA of a webhook; renewed sees that it is to be renewed.
func certificateAuthority(binary string) string {
	return fmt.Sprintf(`kubectl --kubeconfig "$RUNTIME" -n garden create secret generic ca-%[1]s
kubectl --kubeconfig "$RUNTIME" -n garden label secret ca-%[1]s name=ca-%[1]s-webhook issued-at-time=1700000000`, binary)
}

func renewed(binary string) string {
	return fmt.Sprintf(`kubectl --kubeconfig "$RUNTIME" -n garden get secret ca-%s -o jsonpath='{.metadata.labels.issued-at-time}' | grep -qx 0`, binary)
}

// TestBlocks_Claims fails if a block has no entry, or an entry no block.
func TestBlocks_Claims(t *testing.T) {
	found := map[string]map[string]int{}
	for _, p := range pages(t) {
		found[p.name] = map[string]int{}
		for _, b := range p.blocks() {
			found[p.name][b.First()]++
			_, ok := claims()[p.name][b.First()]
			assert.True(t, ok, "%s:%d: no test is known for this block. Add it to claims in e2e/docs/claims_test.go, under %q, with the key\n%q\n"+
				"or make its language text, if it has neither commands nor what they print", p.name, b.Line, p.name, b.First())
		}
	}
	for name, entries := range claims() {
		for first := range entries {
			assert.Equal(t, 1, found[name][first], "claims in e2e/docs/claims_test.go: blocks of %s that begin with %q", name, first)
		}
	}
}

// TestClaims checks that entries are complete: those that are not run here have a reason, or name a test that exists.
func TestClaims(t *testing.T) {
	c := newCheckout(t)
	for name, entries := range claims() {
		for first, entry := range entries {
			where := name + ": " + first
			folder, test, _ := strings.Cut(entry.by, ":")
			assert.Equal(t, entry.kind == followed, entry.by != "", where)
			assert.True(t, entry.kind != followed || c.hasTest(folder, test), "%s: there is no %s", where, entry.by)
			assert.Equal(t, entry.kind == checked || entry.kind == parsed, entry.reason != "", where)
		}
	}
}
