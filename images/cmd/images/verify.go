package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/trellis-garden/trellis/images/internal/cli"
	"github.com/trellis-garden/trellis/images/internal/signing"
	"github.com/trellis-garden/trellis/images/internal/verifier"
)

func runVerify(ctx context.Context, args []string, out io.Writer) error {
	var keyFile string
	flags := flag.NewFlagSet("images verify", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&keyFile, "key", "", "")
	err := flags.Parse(args)
	if err == nil && (keyFile == "" || flags.NArg() == 0) {
		err = errors.New("verify needs --key and an archive or an image")
	}
	if err != nil {
		return cli.UsageError{Err: err}
	}
	return verifyAll(ctx, keyFile, flags.Args(), out)
}

func verifyAll(ctx context.Context, keyFile string, subjects []string, out io.Writer) error {
	file, err := os.ReadFile(keyFile)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	key, err := signing.ReadPublicKey(file)
	if err != nil {
		return fmt.Errorf("--key %s: %w", keyFile, err)
	}
	return verifier.All(ctx, key, subjects, out)
}
