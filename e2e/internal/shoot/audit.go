package shoot

import "github.com/trellis-garden/trellis/e2e/internal/audit"

// auditPolicy records requests of ServiceAccounts, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// AuditLog is the log of requests of ServiceAccounts.
func (c *Cluster) AuditLog() audit.Log { return audit.Log(c.path(auditLog)) }
