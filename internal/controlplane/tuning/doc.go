// Package tuning describes what a cloud wants to be different in the components that Gardener itself deploys, and makes it
// so: pure functions over the objects, deterministic and idempotent, for admission webhooks to call.
//
// What may be changed, and what may not, is fixed by gardener/docs/extensions/controlplane-webhooks.md. The package must not
// know any one cloud, nor how a request reaches it.
package tuning
