package shoot

import "github.com/trellis-garden/trellis/e2e/internal/audit"

// auditPolicy records what ServiceAccounts ask for, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// AuditLog is the log of what ServiceAccounts ask for.
func (c *Cluster) AuditLog() audit.Log { return audit.Log(c.path(auditLog)) }
