package seed

import "github.com/trellis-garden/trellis/e2e/internal/audit"

// auditPolicy records what controllers write, with the body, and what they read, without; and of what pods of control planes ask for
// whether they may. Lease renewals are no writes in the sense of any budget: they come with the clock and not with the work.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Request
  userGroups: [` + controllerGroup + `]
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
  userGroups: [` + controllerGroup + `]
  verbs: [get, list, watch]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// auditPolicyOfMetadata records the same requests of controllers without bodies, which for many shoots are gigabytes.
const auditPolicyOfMetadata = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
  userGroups: [` + controllerGroup + `]
- level: None
`

// AuditLog is the log of what controllers and pods of control planes ask for.
func (s *Seed) AuditLog() audit.Log { return s.audit }

// Writes is audit.Log.Writes of the seed.
func (s *Seed) Writes(namespace string) ([]audit.Write, error) { return s.AuditLog().Writes(namespace) }

// Requests is audit.Log.Requests of the seed.
func (s *Seed) Requests(user string) ([]audit.Request, error) { return s.AuditLog().Requests(user) }
