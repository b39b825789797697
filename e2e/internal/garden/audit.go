package garden

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
)

const (
	// writesOfInstallations is for gardener-apiserver: whoever writes a ControllerInstallation, and what.
	writesOfInstallations = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Request
  verbs: [create, update, patch, delete, deletecollection]
  resources:
  - group: core.gardener.cloud
    resources: [controllerinstallations, controllerinstallations/status]
- level: None
`
	// requestsOfPods is for kube-apiserver, which all requests pass: what pods ask for, and whether they may.
	requestsOfPods = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`
)

// WithAudit makes a garden that remembers who has written ControllerInstallations, and what ServiceAccounts have asked for.
func WithAudit() Option {
	return func(g *Garden) { g.audited = true }
}

// InstallationWrites is the log of all that was written to ControllerInstallations, by anybody, with bodies. It is for a garden WithAudit.
func (g *Garden) InstallationWrites() audit.Log {
	return audit.Log(filepath.Join(g.dir, "audit-installations.log"))
}

// ServiceAccountRequests is the log of all that ServiceAccounts have asked for, in any API. It is for a garden WithAudit.
func (g *Garden) ServiceAccountRequests() audit.Log {
	return audit.Log(filepath.Join(g.dir, "audit-accounts.log"))
}

// audit has both API servers write their logs.
func (g *Garden) audit() error {
	policies := map[audit.Log]string{g.InstallationWrites(): writesOfInstallations, g.ServiceAccountRequests(): requestsOfPods}
	for log, policy := range policies {
		if err := os.WriteFile(policyOf(log), []byte(policy), 0o600); err != nil {
			return fmt.Errorf("writing an audit policy: %w", err)
		}
	}
	gardener := g.environment.GardenerAPIServer
	gardener.Args = append(gardener.Args,
		"--audit-policy-file="+policyOf(g.InstallationWrites()), "--audit-log-path="+string(g.InstallationWrites()))
	g.environment.ControlPlane.GetAPIServer().Configure().
		Set("audit-policy-file", policyOf(g.ServiceAccountRequests())).
		Set("audit-log-path", string(g.ServiceAccountRequests()))
	return nil
}

func policyOf(log audit.Log) string { return string(log) + ".policy.yaml" }
