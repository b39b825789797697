package config

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func complete() Config {
	return Config{
		PodRanges:     []netip.Prefix{netip.MustParsePrefix("10.96.0.0/11"), netip.MustParsePrefix("fd00:10::/56")},
		NodeRanges:    []netip.Prefix{netip.MustParsePrefix("10.250.0.0/16")},
		MTU:           1400,
		Tunnel:        &Tunnel{ID: 1, Port: 8472},
		Routes:        RoutesTunnel,
		Masquerade:    Masquerade{Enabled: true, Except: []netip.Prefix{netip.MustParsePrefix("192.168.0.0/16")}, DNS: true},
		NetworkPolicy: &NetworkPolicy{Recheck: true},
		HostPorts:     true, Bandwidth: true, ServiceRouting: true, ReportsNetwork: true,
	}
}

func TestDecode_WhatEncodeReturns(t *testing.T) {
	document, err := complete().Encode()
	require.NoError(t, err)
	decoded, err := Decode([]byte(document))
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(complete(), decoded, cmpopts.EquateComparable(netip.Prefix{})))
}

func TestDecode_UnknownField(t *testing.T) {
	_, err := Decode([]byte(`{"podRanges": ["10.0.0.0/8"], "routes": "cloud", "routing": "fast"}`))
	assert.ErrorContains(t, err, `unknown field "routing"`)
}

func TestValidate(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"a complete configuration":                {func(*Config) {}, ""},
		"routes of the cloud":                     {func(c *Config) { c.Routes, c.Tunnel = RoutesCloud, nil }, ""},
		"a tunnel that is only read":              {func(c *Config) { c.Routes = RoutesNodes }, ""},
		"no range of pods":                        {func(c *Config) { c.PodRanges = nil }, "podRanges: must be one range"},
		"two ranges of one family":                {func(c *Config) { c.PodRanges[1] = netip.MustParsePrefix("10.0.0.0/24") }, "podRanges: must be one range"},
		"an address with host bits":               {func(c *Config) { c.NodeRanges[0] = netip.MustParsePrefix("10.250.0.1/16") }, "nodeRanges[0]: 10.250.0.1/16 is not a range"},
		"an empty exception":                      {func(c *Config) { c.Masquerade.Except[0] = netip.Prefix{} }, "masquerade.except[0]"},
		"an unknown way":                          {func(c *Config) { c.Routes = "bgp" }, `routes: must be "tunnel", "nodes" or "cloud", not "bgp"`},
		"routes through a tunnel that is missing": {func(c *Config) { c.Tunnel = nil }, `routes: "tunnel" needs a tunnel`},
		"a VXLAN without an ID":                   {func(c *Config) { c.Tunnel.ID = 0 }, "tunnel.id: must be 1 to 16777215, not 0"},
		"a port that is too high":                 {func(c *Config) { c.Tunnel.Port = 65536 }, "tunnel.port: must be 1 to 65535, not 65536"},
		"a condition to set and to remove":        {func(c *Config) { c.WithdrawsNetwork = true }, "withdrawsNetwork: must be false where reportsNetwork is true"},
		"a condition to remove":                   {func(c *Config) { c.ReportsNetwork, c.WithdrawsNetwork = false, true }, ""},
		"an MTU too small for IPv6":               {func(c *Config) { c.MTU = 1279 }, "mtu: must be 0, or 1280 to 9216, not 1279"},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := complete()
			test.change(&c)
			if test.want == "" {
				require.NoError(t, c.Validate())
				return
			}
			require.ErrorContains(t, c.Validate(), test.want)
			_, err := c.Encode()
			assert.ErrorContains(t, err, test.want)
		})
	}
}
