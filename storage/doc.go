// Package storage is the seam between PrivCom and where its objects live: a
// local folder, an S3-compatible bucket, or memory. It knows nothing of graphs.
//
// # Contract
//
//   - A key is a slash-separated relative path of plain names. Keys with empty
//     segments, "." or "..", back slashes or control characters are refused.
//   - Nothing is visible under a key before its Put, Create or Commit returned
//     or was about to return; what is visible is complete. There is no append.
//   - Create is create-if-absent: of any number of simultaneous calls for one
//     key at most one succeeds, the others get ErrExists. On a folder it is a
//     hard link of a finished file, on S3 a conditional PUT, in memory a lock.
//   - On a folder every commit syncs the file and the directories that name it
//     before it returns, so what was reported as written survives a power cut.
//   - An object is immutable while anyone reads it; replaced objects (Put) are
//     meant for small documents that are read in one piece.
//   - Every error has a Class: the caller's fault (ClassUser), worth another try
//     (ClassRetryable), or neither (ClassPermanent). Outside malformed bytes
//     never panic; they come back as *CorruptError.
//
// # Folder
//
// The folder is written with package os and not through a blob library: a
// commit needs fsync of file and directory, and create-if-absent needs link(2),
// which no portable blob interface offers. Temporary files are named
// ".privcom-tmp-*", live beside their target (so that the rename never crosses
// a file system) and are never listed.
//
// # S3 and memory
//
// Both go through gocloud.dev/blob, so the adapter that talks to S3 is the one
// that the memory tests run. Credentials come from the environment, the shared
// configuration files or the instance, never from the URL. Other clouds are
// reached through their S3-compatible endpoints
// (s3://bucket/prefix?endpoint=…&region=…&use_path_style=true).
//
// # Blocks and Parquet
//
// EncodeBlock and DecodeBlock carry matrix blocks as Arrow IPC streams (one
// record batch, one FixedSizeList column) that pyarrow can read. NewParquet and
// ReadParquet write and read typed rows with explicit row groups, without
// dictionaries, with statistics.
package storage
