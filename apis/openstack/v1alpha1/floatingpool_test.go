package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

func TestFindFloatingPool(t *testing.T) {
	type pool = v1alpha1.FloatingPool
	// Every pool says by its default subnet which one it is.
	mark := func(pools ...pool) []pool {
		for i := range pools {
			pools[i].DefaultFloatingSubnet = new(string(rune('a' + i)))
		}
		return pools
	}
	for sentence, test := range map[string]struct {
		pools []pool
		name  string
		want  string // empty: none
	}{
		"a pool without region is for every region":                  {mark(pool{Name: "FIP"}), "FIP", "a"},
		"a star is for every name":                                   {mark(pool{Name: "*"}), "FIP", "a"},
		"a star in a region is for every name":                       {mark(pool{Name: "*", Region: new("europe")}), "FIP", "a"},
		"a pool in the region":                                       {mark(pool{Name: "FIP", Region: new("europe")}), "FIP", "a"},
		"a pool in another region is not for this one":               {mark(pool{Name: "FIP", Region: new("asia")}), "FIP", ""},
		"a pool in another region does not hide a general one":       {mark(pool{Name: "FIP", Region: new("asia")}, pool{Name: "FIP"}), "FIP", "b"},
		"a pool in the domain":                                       {mark(pool{Name: "FIP", Domain: new("dev")}), "FIP", "a"},
		"a pool in another domain is not for this one":               {mark(pool{Name: "FIP", Domain: new("live")}), "FIP", ""},
		"a pool in region and domain":                                {mark(pool{Name: "FIP", Region: new("europe"), Domain: new("dev")}), "FIP", "a"},
		"a pool in the region, but in another domain":                {mark(pool{Name: "FIP", Region: new("europe"), Domain: new("live")}), "FIP", ""},
		"a leading star":                                             {mark(pool{Name: "*-pool"}), "fp-pool", "a"},
		"a trailing star":                                            {mark(pool{Name: "fp-*"}), "fp-pool", "a"},
		"a star in between":                                          {mark(pool{Name: "fp-*-pool"}), "fp-eu-pool", "a"},
		"a star matches nothing, too":                                {mark(pool{Name: "fp*"}), "fp", "a"},
		"a name must match as a whole":                               {mark(pool{Name: "fp"}), "fp-pool", ""},
		"a dot is a dot":                                             {mark(pool{Name: "fp.pool"}), "fp-pool", ""},
		"a name in full wins over a wildcard":                        {mark(pool{Name: "fp-*"}, pool{Name: "fp-pool"}), "fp-pool", "b"},
		"a long wildcard wins over a short one":                      {mark(pool{Name: "*"}, pool{Name: "fp-p*"}, pool{Name: "fp-*"}), "fp-pool", "b"},
		"of equals the first wins":                                   {mark(pool{Name: "FIP"}, pool{Name: "FIP"}), "FIP", "a"},
		"the region's entry wins over a general one":                 {mark(pool{Name: "FIP"}, pool{Name: "*", Region: new("europe")}), "FIP", "b"},
		"region and domain together win over either":                 {mark(pool{Name: "FIP", Region: new("europe")}, pool{Name: "FIP", Domain: new("dev")}, pool{Name: "*", Region: new("europe"), Domain: new("dev")}), "FIP", "c"},
		"a region with its own entries is limited to them":           {mark(pool{Name: "FIP"}, pool{Name: "other", Region: new("europe")}), "FIP", ""},
		"a domain with its own entries is limited to them":           {mark(pool{Name: "FIP"}, pool{Name: "other", Domain: new("dev")}), "FIP", ""},
		"region and domain with own entries are limited to them":     {mark(pool{Name: "FIP"}, pool{Name: "other", Region: new("europe"), Domain: new("dev")}), "FIP", ""},
		"region and domain limit together: the region lacks it":      {mark(pool{Name: "other", Region: new("europe")}, pool{Name: "FIP", Domain: new("dev")}), "FIP", ""},
		"region and domain limit together: the domain lacks it":      {mark(pool{Name: "FIP", Region: new("europe")}, pool{Name: "other", Domain: new("dev")}), "FIP", ""},
		"region and domain limit together: both have it":             {mark(pool{Name: "FIP", Domain: new("dev")}, pool{Name: "FIP", Region: new("europe")}), "FIP", "b"},
		"what is limited twice does not fall back to a general one":  {mark(pool{Name: "one", Region: new("europe")}, pool{Name: "two", Domain: new("dev")}, pool{Name: "FIP"}), "FIP", ""},
		"an additional pool of the region limits nobody":             {mark(pool{Name: "FIP"}, pool{Name: "other", Region: new("europe"), NonConstraining: new(true)}), "FIP", "a"},
		"an additional pool of the region is allowed itself":         {mark(pool{Name: "FIP", Region: new("europe"), NonConstraining: new(true)}, pool{Name: "other"}), "FIP", "a"},
		"a general additional pool is allowed in a limited region":   {mark(pool{Name: "other", Region: new("europe")}, pool{Name: "FIP", NonConstraining: new(true)}), "FIP", "b"},
		"an additional pool of the domain in a limited region":       {mark(pool{Name: "other", Region: new("europe")}, pool{Name: "FIP", Domain: new("dev"), NonConstraining: new(true)}), "FIP", "b"},
		"an additional pool in a region and domain that are limited": {mark(pool{Name: "other", Region: new("europe"), Domain: new("dev")}, pool{Name: "FIP", Region: new("europe"), NonConstraining: new(true)}), "FIP", "b"},
		"an explicit no to being additional limits as usual":         {mark(pool{Name: "FIP"}, pool{Name: "other", Region: new("europe"), NonConstraining: new(false)}), "FIP", ""},
		"no pools at all":                                            {nil, "FIP", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			profile := &v1alpha1.CloudProfileConfig{}
			profile.Constraints.FloatingPools = test.pools
			found := profile.FindFloatingPool(test.name, "europe", "dev")
			if test.want == "" {
				require.Nil(t, found)
				return
			}
			require.NotNil(t, found)
			require.Equal(t, test.want, *found.DefaultFloatingSubnet)
		})
	}
}

func TestSubnetPattern(t *testing.T) {
	for sentence, test := range map[string]struct {
		pattern, name string
		want          bool
	}{
		"a name matches itself":                          {"public-1", "public-1", true},
		"a name matches nothing longer":                  {"public-1", "public-10", false},
		"a name with special characters matches itself":  {"public.(1)+", "public.(1)+", true},
		"a dot in a name is a dot":                       {"public.1", "public-1", false},
		"a star stands for any characters":               {"public-*", "public-10", true},
		"a star stands for nothing, too":                 {"public-*", "public-", true},
		"a star stops at a slash":                        {"public-*", "public-10.0.0.0/24", false},
		"a regular expression does not":                  {"~public-.*", "public-10.0.0.0/24", true},
		"a part of a name matches nothing":               {"public", "public-1", false},
		"without a tilde there is no regular expression": {"public-.*", "public-1", false},
		"a name that is missing matches nothing":         {"*", "", false},
		"nor does it match a negation":                   {"!internal-*", "", false},
		"a glob matches the whole name":                  {"public-*", "a-public-1", false},
		"a question mark stands for one character":       {"public-?", "public-1", true},
		"a question mark stands for not more than one":   {"public-?", "public-10", false},
		"a tilde begins a regular expression":            {`~public-\d+`, "public-10", true},
		"a regular expression matches the whole name":    {`~public-\d`, "public-10", false},
		"alternatives match the whole name, each":        {`~public|private`, "private-1", false},
		"a leftmost alternative does not hide a longer":  {`~public|public-1`, "public-1", true},
		"an exclamation mark negates a glob":             {"!internal-*", "public-1", true},
		"an exclamation mark negates a match":            {"!internal-*", "internal-1", false},
		"an exclamation mark negates a regular express.": {`!~internal-\d+`, "internal-1", false},
		"only the first exclamation mark counts":         {"!!a", "!a", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			pattern, err := v1alpha1.ParseSubnetPattern(test.pattern)
			require.NoError(t, err)
			require.Equal(t, test.want, pattern.Matches(test.name))
		})
	}
}

func TestParseSubnetPattern_Invalid(t *testing.T) {
	for _, pattern := range []string{"~(", "!~(", "~*", "~)("} {
		_, err := v1alpha1.ParseSubnetPattern(pattern)
		require.Error(t, err, pattern)
	}
}

func TestKeystone(t *testing.T) {
	profile := &v1alpha1.CloudProfileConfig{
		KeyStoneURL:    "https://general",
		KeyStoneCACert: new("general CA"),
		KeyStoneURLs: []v1alpha1.KeyStoneURL{
			{Region: "europe", URL: "https://europe", CACert: new("europe's CA")},
			{Region: "asia", URL: "https://asia"},
			{Region: "africa", URL: "https://africa", CACert: new("")},
		},
	}
	for sentence, test := range map[string]struct{ region, url, ca string }{
		"a region with its own URL and CA":           {"europe", "https://europe", "europe's CA"},
		"a region without CA takes the general one":  {"asia", "https://asia", "general CA"},
		"an empty CA counts as none":                 {"africa", "https://africa", "general CA"},
		"a region that is not listed is the general": {"antarctica", "https://general", "general CA"},
	} {
		t.Run(sentence, func(t *testing.T) {
			keystone, err := profile.Keystone(test.region)
			require.NoError(t, err)
			require.Equal(t, v1alpha1.KeyStoneURL{Region: test.region, URL: test.url, CACert: &test.ca}, keystone)
		})
	}
	t.Run("a profile with regions alone knows no others", func(t *testing.T) {
		profile := profile.DeepCopy()
		profile.KeyStoneURL = ""
		_, err := profile.Keystone("antarctica")
		require.Error(t, err)
	})
}
