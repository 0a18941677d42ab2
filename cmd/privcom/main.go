package main

import (
	"os"

	"github.com/privcom/privcom/baseline"
	"github.com/privcom/privcom/internal/cli"
)

func main() { os.Exit(cli.Privcom(os.Args[1:], baseline.Methods())) }
