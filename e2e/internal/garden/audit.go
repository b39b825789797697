package garden

import (
	"path/filepath"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
)

const (
	// writesOfInstallations is for gardener-apiserver: writes of ControllerInstallations, with bodies.
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
	// requestsOfPods is for kube-apiserver, through which all requests pass: requests of pods, and whether they were permitted.
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

// WithAudit makes a garden log the writes of ControllerInstallations, and the requests of ServiceAccounts.
func WithAudit() Option {
	return func(g *Garden) { g.audited = true }
}

// InstallationWrites is the log of all writes of ControllerInstallations, with bodies. The garden must have been started WithAudit.
func (g *Garden) InstallationWrites() audit.Log {
	return audit.Log(filepath.Join(g.dir, "audit-installations.log"))
}

// ServiceAccountRequests is the log of all requests of ServiceAccounts, to any API. The garden must have been started WithAudit.
func (g *Garden) ServiceAccountRequests() audit.Log {
	return audit.Log(filepath.Join(g.dir, "audit-accounts.log"))
}

// auditOptions are those of kube-apiserver, and arguments of gardener-apiserver.
func (g *Garden) auditOptions() (apiserver.Options, []string, error) {
	if !g.audited {
		return apiserver.Options{}, nil, nil
	}
	policy, err := apiserver.WritePolicy(g.InstallationWrites(), writesOfInstallations)
	return apiserver.Options{Audit: g.ServiceAccountRequests(), AuditPolicy: requestsOfPods},
		[]string{"--audit-policy-file=" + policy, "--audit-log-path=" + string(g.InstallationWrites())}, err
}
