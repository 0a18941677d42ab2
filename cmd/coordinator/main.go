package main

import (
	"os"

	"github.com/privcom/privcom/internal/cli"
)

func main() { os.Exit(cli.Coordinator(os.Args[1:])) }
