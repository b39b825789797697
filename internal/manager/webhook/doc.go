// Package webhook serves the admission webhooks of a binary and registers them with the API server of its cluster. A binary
// names its webhooks (manager.Binary.Webhooks) and calls Serve in its Setup, always, with those that its --types need: what
// is not served is taken back.
//
// The package must not know any contract, driver or cloud, nor what a webhook is about.
//
// # What exists
//
//   - A MutatingWebhookConfiguration and a ValidatingWebhookConfiguration, both named gardener-extension-<binary>, each only
//     if there are webhooks for it. They belong to the owner namespace and go away with it. The leader repairs them.
//   - Secrets in the webhooks' namespace, kept by Gardener's secrets manager under the identity <binary>-webhook: a
//     certificate authority (ca-<binary>-webhook) and a server certificate (<binary>-webhook-server).
//   - In modes service and url-service the API server calls the Service gardener-extension-<binary>.
//
// A binary that works for the garden (manager.Binary.Garden) may have two clusters: the garden, and the runtime cluster where it runs. Each has
// such configurations for the webhooks that are for it, with an owner of its own; Secrets and Service are in the runtime cluster alone. One
// server and one certificate serve both. A cluster that is away keeps the other one from nothing but the renewal of certificates. When the
// garden is the runtime cluster, there is one registration for all.
//
// Nothing is taken away when a process ends. A binary that stops having webhooks for good keeps their names, and its call of
// Serve, for one more release.
//
// # Certificates
//
// The authority is valid for 30 days and renewed after 20. When an admin wants it sooner:
//
//	kubectl label secret -n <namespace> -l name=ca-<binary>-webhook --overwrite issued-at-time=0
//
// The same with name=<binary>-webhook-server renews the server certificate alone. Deleting Secrets works too, but API server
// and replicas then disagree for up to half a minute. cert_rotator.go says why a renewal never makes a request fail.
//
// # What a chart gives
//
//   - A Service gardener-extension-<binary>; its port is --webhook-config-service-port, its target --webhook-config-server-port.
//     Annotation for API servers outside of the pod network: networking.resources.gardener.cloud/from-world-to-ports with the
//     server's port; for those of shoots: networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports,
//     .../namespace-selectors and .../pod-label-selector-namespace-alias: extensions (gardener/docs/operations/network_policies.md).
//   - A readiness probe on /readyz: a replica without a certificate is not ready.
//   - A pause before SIGTERM (lifecycle.preStop.sleep, 5 seconds): endpoints are slower than processes.
//   - ClusterRole: mutatingwebhookconfigurations and validatingwebhookconfigurations (admissionregistration.k8s.io): create;
//     get, update and delete with the resource name gardener-extension-<binary>; of a kind that it never had webhooks of, get and
//     delete suffice. Namespaces: get with the name of the owner.
//   - Role in the webhooks' namespace: secrets: get, list, create, patch, delete.
//
// Where the garden is another cluster, that ClusterRole exists in both, each with the owner there; the Role is needed in the runtime cluster
// alone. A cluster that no webhook is for needs get and delete of both kinds, and no owner. The owner in the garden has to be named:
// --webhook-config-owner-namespace.
package webhook
