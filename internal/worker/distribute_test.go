package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// distribution is a row of testdata/distributions.json: a pool's figures and those of each of its zones.
type distribution struct {
	Zones          int32                `json:"zones"`
	Minimum        int32                `json:"minimum"`
	Maximum        int32                `json:"maximum"`
	MaxSurge       intstr.IntOrString   `json:"maxSurge"`
	MaxUnavailable intstr.IntOrString   `json:"maxUnavailable"`
	Minima         []int32              `json:"minima"`
	Maxima         []int32              `json:"maxima"`
	Surges         []intstr.IntOrString `json:"surges"`
	Unavailables   []intstr.IntOrString `json:"unavailables"`
}

func (d *distribution) distribute(t *testing.T) {
	t.Helper()
	for zone := range d.Zones {
		d.Minima = append(d.Minima, distribute(zone, d.Minimum, d.Zones))
		d.Maxima = append(d.Maxima, distribute(zone, d.Maximum, d.Zones))
		surge, err := distributeIntOrPercent(zone, d.MaxSurge, d.Zones, d.Maximum)
		require.NoError(t, err)
		d.Surges = append(d.Surges, surge)
		unavailable, err := distributeIntOrPercent(zone, d.MaxUnavailable, d.Zones, d.Minimum)
		require.NoError(t, err)
		d.Unavailables = append(d.Unavailables, unavailable)
	}
}

func distributions(t *testing.T) []distribution {
	t.Helper()
	rows := []distribution{
		{Zones: 1, Minimum: 3, Maximum: 5, MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0)},
		{Zones: 3, Minimum: 3, Maximum: 6, MaxSurge: intstr.FromString("50%"), MaxUnavailable: intstr.FromInt32(1)},
		{Zones: 3, Minimum: 1, Maximum: 5, MaxSurge: intstr.FromString("25%"), MaxUnavailable: intstr.FromString("10%")},
		{Zones: 3, Minimum: 0, Maximum: 1, MaxSurge: intstr.FromString("100%"), MaxUnavailable: intstr.FromString("0%")},
		{Zones: 2, Minimum: 0, Maximum: 0, MaxSurge: intstr.FromInt32(0), MaxUnavailable: intstr.FromString("1%")},
	}
	random := rand.New(rand.NewPCG(6, 1867))
	amount := func(limit int32) intstr.IntOrString {
		if random.IntN(2) == 0 {
			return intstr.FromInt32(random.Int32N(limit))
		}
		return intstr.FromString(fmt.Sprintf("%d%%", random.IntN(101)))
	}
	for len(rows) < 150 {
		minimum := random.Int32N(40)
		rows = append(rows, distribution{
			Zones: 1 + random.Int32N(6), Minimum: minimum, Maximum: minimum + random.Int32N(60), MaxSurge: amount(20), MaxUnavailable: amount(20),
		})
	}
	for i := range rows {
		rows[i].distribute(t)
	}
	return rows
}

// percentGrid lists the result for each percentage in each zone for each total up to 64, as lines "total percent zone result".
func percentGrid(t *testing.T, zones int32) string {
	t.Helper()
	sum := sha256.New()
	for total := range int32(65) {
		for percent := range 101 {
			for zone := range zones {
				result, err := distributeIntOrPercent(zone, intstr.FromString(fmt.Sprintf("%d%%", percent)), zones, total)
				require.NoError(t, err)
				_, err = io.WriteString(sum, fmt.Sprintf("%d %d %d %s\n", total, percent, zone, result.StrVal))
				require.NoError(t, err)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Package e2e compares the rows with Gardener's own functions.
func TestDistribute_Golden(t *testing.T) {
	grid := map[string]string{}
	for zones := int32(1); zones <= 7; zones++ {
		grid[fmt.Sprint(zones)] = percentGrid(t, zones)
	}
	sums, err := json.MarshalIndent(grid, "  ", "  ")
	require.NoError(t, err)
	checkGolden(t, "distributions.json",
		fmt.Sprintf("{\n  \"rows\": [\n%s  ],\n  \"percentGrid\": %s\n}\n", linesOf(t, distributions(t)), sums))
}

func TestDistribute(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1868))
	for range 20_000 {
		amount, zones := random.Int32N(2000), 1+random.Int32N(12)
		var sum, before int32
		for zone := range zones {
			share := distribute(zone, amount, zones)
			sum += share
			assert.LessOrEqual(t, share-amount/zones, int32(1), "a zone gets at most one more than the even share")
			assert.GreaterOrEqual(t, share, amount/zones, "a zone gets at least the even share")
			if zone > 0 {
				assert.LessOrEqual(t, share, before, "the first zones get the remainder")
			}
			before = share
		}
		require.Equal(t, amount, sum, "%d over %d zones", amount, zones)
	}
}

func TestDistributePercent(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1869))
	for range 20_000 {
		total, percent, zones := random.Int32N(500), random.IntN(101), 1+random.Int32N(9)
		var sum int
		before := math.MaxInt
		for zone := range zones {
			share := distributePercent(zone, percent, zones, total)
			assert.LessOrEqual(t, share, before, "the first zones have more machines and higher percentages")
			sum, before = sum+share, share
		}
		require.GreaterOrEqual(t, sum, percent*int(zones), "%d%% of %d over %d zones", percent, total, zones)
	}
}

func TestDistributeIntOrPercent_Invalid(t *testing.T) {
	for sentence, value := range map[string]string{
		"empty":                       "",
		"percent sign only":           "%",
		"number without percent sign": "5",
		"fractional percentage":       "2.5%",
		"word":                        "many",
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := distributeIntOrPercent(0, intstr.FromString(value), 2, 3)
			assert.EqualError(t, err, fmt.Sprintf("%q is neither a number nor a percentage", value))
		})
	}
}
