package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// awsCalls is a log of calls.
func awsCalls(reads, writes, looks int) wire.Calls {
	var calls wire.Calls
	for range reads {
		calls = append(calls, wire.Call{Service: "ec2", Method: "POST", Path: "DescribeVpcs", ReadOnly: true})
	}
	for range writes {
		calls = append(calls, wire.Call{Service: "ec2", Method: "POST", Path: "CreateVpc"})
	}
	for range looks {
		calls = append(calls, wire.Call{Service: "ec2", Method: "POST", Path: pollOfGateways, ReadOnly: true})
	}
	return calls
}

func costOfCalls(calls wire.Calls, steps int, wall time.Duration) cost {
	return cost{calls: len(calls), log: calls, steps: steps, wall: wall}
}

func TestNewAWSOperation(t *testing.T) {
	const latency = 200 * time.Millisecond
	got := newAWSOperation(3, rowFirst, costOfCalls(awsCalls(2, 5, 4), 8, 2400*time.Millisecond), latency)
	got.log = nil
	assert.Equal(t, awsOperation{Zones: 3, Operation: rowFirst, Calls: 8, Writes: 5, Polls: 3, Steps: 8, Ratio: 1.25}, got, "the first look is no poll")
	got = newAWSOperation(1, rowNoOp, costOfCalls(awsCalls(1, 0, 0), 0, time.Second), latency)
	assert.Zero(t, got.Polls)
	assert.Zero(t, got.Ratio, "without steps there is no ratio")
}

func TestWithinAWSBudgets(t *testing.T) {
	of := func(zones int, operation string, calls wire.Calls) *awsResult {
		return &awsResult{Operations: []awsOperation{newAWSOperation(zones, operation, costOfCalls(calls, 1, time.Second), time.Second)}}
	}
	for sentence, test := range map[string]struct {
		result *awsResult
		want   string
	}{
		"a creation in a zone":                    {of(1, rowFirst, awsCalls(0, 30, 0)), ""},
		"a call too much":                         {of(1, rowFirst, awsCalls(0, 31, 0)), "AWS, 1 zone, first: 31 calls, at most 30 are allowed:\n"},
		"a creation in three zones":               {of(3, rowFirst, awsCalls(0, 49, 9)), ""},
		"a call too much in three zones":          {of(3, rowFirst, awsCalls(1, 49, 9)), "AWS, 3 zones, first: 51 calls, at most 50 are allowed:\n"},
		"a deletion":                              {of(1, rowDelete, awsCalls(0, 20, 5)), ""},
		"a deletion with a call too much":         {of(3, rowDelete, awsCalls(1, 33, 0)), "AWS, 3 zones, delete: 34 calls, at most 33 are allowed:\n"},
		"nothing to do":                           {of(3, rowNoOp, awsCalls(12, 0, 1)), ""},
		"nothing to do with a read too much":      {of(3, rowNoOp, awsCalls(13, 0, 1)), "AWS, 3 zones, no-op: 14 calls, at most 13 are allowed:\n"},
		"a write although there is nothing to do": {of(1, rowNoOp, awsCalls(2, 1, 0)), "AWS, 1 zone, no-op: 1 write, none is allowed:\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := withinAWSBudgets(test.result)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), test.want), err)
		})
	}
}

// awsSample is a result without logs of calls.
func awsSample() *awsResult {
	return &awsResult{Date: "2026-11-28", Commit: "0123456789ab", Load: 1.5, LatencyMilliseconds: 200, Operations: []awsOperation{
		{Zones: 3, Operation: rowNoOp, Calls: 13, Steps: 1, Ratio: .9},
		{Zones: 1, Operation: rowFirst, Calls: 29, Writes: 27, Polls: 2, Steps: 8, Ratio: 1.1},
	}}
}

func TestAWSPage(t *testing.T) {
	record, err := readCounted()
	require.NoError(t, err)
	page := awsPage(awsSample(), record)
	for _, want := range []string{
		"Of 2026-11-28, commit `0123456789ab`, load average before the run 1.5;",
		`
                   calls  at most  upstream    writes  upstream    polls  steps  time / allowed
1 zone   first        29       30        54        27                  2      8            1.10
3 zones  no-op        13       13        46         0        12        0      1            0.90
`,
		"\n- Counted in its code, not measured,", "at 200 ms and a fifth more",
	} {
		assert.Contains(t, page, want)
	}
}

// The results of AWS are counts, and may be newer than the others.
func TestResults_WriteAWSOnly(t *testing.T) {
	folder := t.TempDir()
	before := winner()
	before.Date, before.Commit, before.Scale = "2026-01-01", "ffffffffffff", nil
	require.NoError(t, before.write(options{folder: folder}))
	others, err := os.ReadFile(filepath.Join(folder, "results.md"))
	require.NoError(t, err)

	added := &results{Date: "2026-11-28", Commit: "0123456789ab", AWS: awsSample()}
	require.NoError(t, added.write(options{folder: folder, only: partAWS}))
	page, err := os.ReadFile(filepath.Join(folder, "results.md"))
	require.NoError(t, err)
	record, err := readCounted()
	require.NoError(t, err)
	assert.Equal(t, string(others)+awsPage(awsSample(), record), string(page), "nothing else has changed")

	require.NoError(t, added.write(options{folder: t.TempDir(), only: partAWS}), "there are no others")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "results.json"), []byte("{"), 0o600))
	require.ErrorContains(t, added.write(options{folder: folder, only: partAWS}), "decoding the results to which these are added: ")
}

func TestRun_UnknownPart(t *testing.T) {
	err := run(t.Context(), nil, options{only: "azure"})
	require.EqualError(t, err, `there is no part "azure"; the parts are infrastructure, aws, machines, scale, secondaries, admission`)
}
