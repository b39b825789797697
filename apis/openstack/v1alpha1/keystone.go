package v1alpha1

// Keystone returns the URL and CA bundle of Keystone for the region, and false when the CloudProfile knows no URL for it.
func (c *CloudProfileConfig) Keystone(region string) (KeyStoneURL, bool) {
	keystone := KeyStoneURL{Region: region, URL: c.KeyStoneURL, CACert: c.KeyStoneCACert}
	for _, regional := range c.KeyStoneURLs {
		if regional.Region != region {
			continue
		}
		keystone.URL = regional.URL
		if regional.CACert != nil && *regional.CACert != "" {
			keystone.CACert = regional.CACert
		}
		break
	}
	return keystone, keystone.URL != ""
}
