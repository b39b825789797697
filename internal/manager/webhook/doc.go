// Package webhook serves the admission webhooks of a binary and registers them with the API server of its cluster. A binary names its webhooks
// (manager.Binary.Webhooks) and always calls Serve in its Setup, with those that its --types need: registrations of the others are deleted.
//
// The package must not know contracts, drivers and clouds, nor the purpose of a webhook.
//
// # Objects
//
//   - A MutatingWebhookConfiguration and a ValidatingWebhookConfiguration, both with the name --webhook-config-name, each
//     only if there are webhooks for it. They are owned by the owner namespace and deleted with it. The leader repairs them.
//   - Secrets in the webhooks' namespace, kept by Gardener's secrets manager under the identity <binary>-webhook: a
//     certificate authority (ca-<binary>-webhook) and a server certificate (<binary>-webhook-server).
//   - In modes service and url-service the API server calls the Service --webhook-config-name.
//
// A garden binary (manager.Binary.Garden) may have two clusters: the garden, and the runtime cluster in which it runs. Each has configurations for
// its webhooks, with an owner of its own; Secrets and Service are in the runtime cluster only. One server and one certificate serve both. An
// unreachable cluster delays only the renewal of certificates for the other one. If the garden is the runtime cluster, there is one registration for
// all webhooks.
//
// Nothing is deleted when a process ends. When the last webhook of a binary is removed from the code, its name, and the call of Serve, must stay for
// one more release.
//
// # Certificates
//
// The authority is valid for 30 days and renewed after 20. To renew it sooner:
//
//	kubectl label secret -n <namespace> -l name=ca-<binary>-webhook --overwrite issued-at-time=0
//
// The same with name=<binary>-webhook-server renews the server certificate alone. Deleting Secrets works too, but then requests may fail for up to
// a minute. cert_rotator.go explains why a renewal makes no request fail.
//
// # Webhooks of shoots
//
// kube-apiservers of shoots call webhooks with Shoots on a port of their own (--webhook-config-shoot-server-port), where no other webhooks are served. Whoever
// rules a shoot decides which URLs its kube-apiserver calls, with which objects: by a webhook configuration of their own, with the CA bundle that they read
// from ours. On one port with the other webhooks, they could ask those as the seed does, and read from the answers what is meant for the seed, or keep them
// busy. A filter by path would leave the latter; a port of its own is also what network policies know. For the same reason, these webhooks have limits of
// their own, and a handler must be a pure function of the request: its caller is any shoot.
//
// Authority and certificate are the same as for the others. Whoever deploys to shoots registers the webhooks there (ShootRegistrations).
//
// # Requirements on a chart
//
//   - A Service --webhook-config-name; its port is --webhook-config-service-port, its target --webhook-config-server-port.
//     Annotation for API servers outside of the pod network: networking.resources.gardener.cloud/from-world-to-ports with the
//     server's port.
//   - With webhooks of shoots: another port of that Service, --webhook-config-shoot-service-port with the target
//     --webhook-config-shoot-server-port, and its annotations networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports
//     with that target alone, .../namespace-selectors (gardener.cloud/role: shoot) and .../pod-label-selector-namespace-alias:
//     extensions (gardener/docs/operations/network_policies.md).
//   - A readiness probe on /readyz: a replica without a certificate is not ready.
//   - A pause before SIGTERM (lifecycle.preStop.sleep, 5 seconds): a process ends faster than its endpoint is removed.
//   - ClusterRole: mutatingwebhookconfigurations and validatingwebhookconfigurations (admissionregistration.k8s.io): create;
//     get, update and delete with the resource name --webhook-config-name; of a kind that it never had webhooks of, get and
//     delete suffice. Namespaces: get with the name of the owner.
//   - Role in the webhooks' namespace: secrets: get, list, create, patch, delete.
//
// If the garden is another cluster, that ClusterRole exists in both, each with the owner there; the Role is needed in the runtime cluster only. A
// cluster without webhooks needs get and delete of both kinds, and no owner. The owner in the garden must be given: --webhook-config-owner-namespace.
package webhook
