// Package tuning describes a cloud's changes to the components that Gardener itself deploys, and applies them: pure functions over the objects,
// deterministic and idempotent, for admission webhooks.
//
// gardener/docs/extensions/controlplane-webhooks.md says what may be changed. The package must not depend on a cloud, or on admission.
package tuning
