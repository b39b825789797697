package controlplane

// WebhookNames returns the names of all webhooks for some types, besides those for shoots (ServiceWebhookName).
func WebhookNames(types []string) []string {
	var names []string
	for _, providerType := range types {
		for _, what := range []string{"controlplane", "operatingsystemconfig", "cloudprovider", "etcd"} {
			names = append(names, what+"."+providerType)
		}
	}
	return names
}
