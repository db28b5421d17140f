"""Archive buckets: the S3 subset, as boto3, awscli and bare HTTP use it."""

import base64
import binascii
import datetime
import hashlib
import hmac
import http.client
import json
import os
import subprocess
import urllib.parse

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from harness.management import Management
from harness.queue import unique_name

KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


def s3_client(endpoint, style="path", region="us-east-1", **keys):
    config = Config(s3={"addressing_style": style}, retries={"max_attempts": 1})
    return boto3.client(
        "s3", endpoint_url=endpoint, region_name=region, config=config, **(keys or KEYS)
    )


def code_of(failure):
    return failure.value.response["Error"]["Code"]


@pytest.fixture
def s3(endpoint):
    return s3_client(endpoint)


@pytest.fixture
def bucket(s3):
    name = unique_name("bucket").lower().replace("_", "-")
    s3.create_bucket(Bucket=name)
    yield name
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
        keys = [{"Key": one["Key"]} for one in page.get("Contents", [])]
        if keys:
            s3.delete_objects(Bucket=name, Delete={"Objects": keys, "Quiet": True})
    s3.delete_bucket(Bucket=name)


def bare(endpoint, method, target, body=None, headers=None):
    """One request without any SDK; the answer with its body read."""
    address = urllib.parse.urlsplit(endpoint)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    connection.request(method, target, body, headers or {})
    answer = connection.getresponse()
    answer.text = answer.read().decode()
    connection.close()
    return answer


def test_a_bucket_comes_and_goes(s3):
    name = unique_name("bucket").lower().replace("_", "-")
    with pytest.raises(ClientError) as failure:
        s3.head_bucket(Bucket=name)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404
    s3.create_bucket(Bucket=name)
    s3.head_bucket(Bucket=name)
    assert name in [one["Name"] for one in s3.list_buckets()["Buckets"]]
    with pytest.raises(ClientError) as failure:
        s3.create_bucket(Bucket=name)
    assert code_of(failure) == "BucketAlreadyOwnedByYou"
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    with pytest.raises(ClientError) as failure:
        s3.delete_bucket(Bucket=name)
    assert code_of(failure) == "BucketNotEmpty"
    s3.delete_object(Bucket=name, Key="k")
    s3.delete_bucket(Bucket=name)
    with pytest.raises(ClientError) as failure:
        s3.list_objects_v2(Bucket=name)
    assert code_of(failure) == "NoSuchBucket"


def test_a_bucket_is_where_its_owner_believes_it_to_be(endpoint, bucket):
    far = s3_client(endpoint, region="us-east-2")
    assert far.get_bucket_location(Bucket=bucket)["LocationConstraint"] == "us-east-2"
    assert s3_client(endpoint).get_bucket_location(Bucket=bucket)["LocationConstraint"] is None


def test_an_object_keeps_its_bytes_its_type_and_its_metadata(s3, bucket):
    body = bytes(range(256)) * 300
    put = s3.put_object(
        Bucket=bucket, Key="a b/ü+%.bin", Body=body, ContentType="image/x-test",
        CacheControl="no-store", Metadata={"colour": "blue", "shape": "round one"},
    )  # fmt: skip
    assert put["ETag"] == f'"{hashlib.md5(body).hexdigest()}"'
    got = s3.get_object(Bucket=bucket, Key="a b/ü+%.bin")
    assert got["Body"].read() == body
    assert got["ContentType"] == "image/x-test"
    assert got["CacheControl"] == "no-store"
    assert got["Metadata"] == {"colour": "blue", "shape": "round one"}
    head = s3.head_object(Bucket=bucket, Key="a b/ü+%.bin")
    assert head["ContentLength"] == len(body)
    assert head["ETag"] == put["ETag"]
    assert head["LastModified"] == got["LastModified"]


def test_a_page_among_the_objects_is_no_page_of_the_server(endpoint, s3, bucket):
    """Its scripts would otherwise run in the server's origin and could call every API."""
    s3.put_object(Bucket=bucket, Key="page.html", Body=b"<script>1</script>", ContentType="text/html")
    for method in (s3.get_object, s3.head_object):
        headers = method(Bucket=bucket, Key="page.html")["ResponseMetadata"]["HTTPHeaders"]
        assert headers["content-type"] == "text/html"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"] == "sandbox"
    listed = s3.list_objects_v2(Bucket=bucket)["ResponseMetadata"]["HTTPHeaders"]
    assert listed["x-content-type-options"] == "nosniff"


def test_hostile_keys_are_only_keys(s3, bucket):
    keys = [".", "..", "../../x", "/", "//", "a//b", "%2e%2e", "nul\u0001", "k" * 1024, "\\"]
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=key.encode())
    for key in keys:
        assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == key.encode()
    listed = s3.list_objects_v2(Bucket=bucket)["Contents"]
    assert [one["Key"] for one in listed] == sorted(keys, key=lambda key: key.encode())
    with pytest.raises(ClientError) as failure:
        s3.put_object(Bucket=bucket, Key="k" * 1025, Body=b"")
    assert code_of(failure) == "KeyTooLongError"


def test_ranges(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
    cases = [("bytes=0-3", b"0123", "bytes 0-3/10"), ("bytes=7-", b"789", "bytes 7-9/10"),
             ("bytes=-2", b"89", "bytes 8-9/10"),
             ("bytes=8-99", b"89", "bytes 8-9/10")]  # fmt: skip
    for header, body, described in cases:
        got = s3.get_object(Bucket=bucket, Key="k", Range=header)
        assert (got["Body"].read(), got["ContentRange"]) == (body, described), header
        assert got["ResponseMetadata"]["HTTPStatusCode"] == 206
    with pytest.raises(ClientError) as failure:
        s3.get_object(Bucket=bucket, Key="k", Range="bytes=10-")
    assert code_of(failure) == "InvalidRange"
    assert s3.head_object(Bucket=bucket, Key="k", Range="bytes=2-4")["ContentLength"] == 3


def test_conditions(s3, bucket):
    etag = s3.put_object(Bucket=bucket, Key="k", Body=b"x")["ETag"]
    s3.get_object(Bucket=bucket, Key="k", IfMatch=etag)
    with pytest.raises(ClientError) as failure:
        s3.get_object(Bucket=bucket, Key="k", IfMatch='"other"')
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 412
    with pytest.raises(ClientError) as failure:
        s3.get_object(Bucket=bucket, Key="k", IfNoneMatch=etag)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 304


def test_what_is_missing_is_named(s3, bucket):
    with pytest.raises(ClientError) as failure:
        s3.get_object(Bucket=bucket, Key="missing")
    assert code_of(failure) == "NoSuchKey"
    with pytest.raises(ClientError) as failure:
        s3.put_object(Bucket=bucket + "-not", Key="k", Body=b"")
    assert code_of(failure) == "NoSuchBucket"
    s3.delete_object(Bucket=bucket, Key="missing")


@pytest.mark.parametrize("version", ["list_objects", "list_objects_v2"])
def test_lists_page_by_page(s3, bucket, version):
    keys = [f"d{i % 3}/k{i:02}" for i in range(20)] + ["top"]
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    pages = s3.get_paginator(version).paginate(Bucket=bucket, PaginationConfig={"PageSize": 6})
    found = [one["Key"] for page in pages for one in page.get("Contents", [])]
    assert found == sorted(keys)
    rolled = getattr(s3, version)(Bucket=bucket, Delimiter="/")
    assert [one["Prefix"] for one in rolled["CommonPrefixes"]] == ["d0/", "d1/", "d2/"]
    assert [one["Key"] for one in rolled["Contents"]] == ["top"]
    pages = s3.get_paginator(version).paginate(
        Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 1}
    )
    seen = []
    for page in pages:
        seen += [one["Prefix"] for one in page.get("CommonPrefixes", [])]
        seen += [one["Key"] for one in page.get("Contents", [])]
    assert seen == ["d0/", "d1/", "d2/", "top"]
    assert len(getattr(s3, version)(Bucket=bucket, Prefix="d1/")["Contents"]) == 7


def test_many_go_at_once(s3, bucket):
    for i in range(5):
        s3.put_object(Bucket=bucket, Key=f"<k&{i}>", Body=b"x")
    gone = s3.delete_objects(
        Bucket=bucket, Delete={"Objects": [{"Key": f"<k&{i}>"} for i in range(4)]}
    )
    assert sorted(one["Key"] for one in gone["Deleted"]) == [f"<k&{i}>" for i in range(4)]
    assert [one["Key"] for one in s3.list_objects_v2(Bucket=bucket)["Contents"]] == ["<k&4>"]


def test_copies(s3, bucket):
    s3.put_object(
        Bucket=bucket, Key="from/ü x", Body=b"body", ContentType="text/x", Metadata={"a": "1"}
    )
    source = {"Bucket": bucket, "Key": "from/ü x"}
    copied = s3.copy_object(Bucket=bucket, Key="to", CopySource=source)
    assert copied["CopyObjectResult"]["ETag"] == f'"{hashlib.md5(b"body").hexdigest()}"'
    got = s3.get_object(Bucket=bucket, Key="to")
    assert (got["Body"].read(), got["ContentType"], got["Metadata"]) == (
        b"body", "text/x", {"a": "1"},
    )  # fmt: skip
    s3.copy_object(
        Bucket=bucket, Key="to", CopySource=source, MetadataDirective="REPLACE",
        Metadata={"b": "2"}, ContentType="text/y",
    )  # fmt: skip
    got = s3.head_object(Bucket=bucket, Key="to")
    assert (got["ContentType"], got["Metadata"]) == ("text/y", {"b": "2"})


def test_virtual_host_addresses(endpoint, bucket):
    named = endpoint.replace("127.0.0.1", "localhost")
    s3_client(endpoint).put_object(Bucket=bucket, Key="dir/k", Body=b"virtual")
    host = f"{bucket}.{urllib.parse.urlsplit(named).netloc}"
    answer = bare(endpoint, "GET", "/dir/k", headers={"Host": host})
    assert (answer.status, answer.text) == (200, "virtual")
    listed = bare(endpoint, "GET", "/?list-type=2", headers={"Host": host, "x-amz-date": "x",
                  "x-amz-content-sha256": "UNSIGNED-PAYLOAD"})  # fmt: skip
    assert "<Key>dir/k</Key>" in listed.text


def crc32(body):
    return base64.b64encode(binascii.crc32(body).to_bytes(4, "big")).decode()


def test_digests_are_checked(endpoint, s3, bucket):
    body = b"hello world"
    good = {
        "Content-MD5": base64.b64encode(hashlib.md5(body).digest()).decode(),
        "x-amz-checksum-crc32": crc32(body),
        "x-amz-checksum-crc32c": "yZRlqg==",
        "x-amz-checksum-crc64nvme": "jSnVw/bqjr4=",
        "x-amz-checksum-sha1": base64.b64encode(hashlib.sha1(body).digest()).decode(),
        "x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(body).digest()).decode(),
    }
    for name, value in good.items():
        stored = bare(endpoint, "PUT", f"/{bucket}/{name}", body, {name: value})
        assert stored.status == 200, (name, stored.text)
        refused = bare(endpoint, "PUT", f"/{bucket}/bad", body + b"!", {name: value})
        assert refused.status == 400 and "<Code>BadDigest</Code>" in refused.text, name
    head = {"x-amz-checksum-mode": "ENABLED"}
    told = bare(endpoint, "HEAD", f"/{bucket}/x-amz-checksum-crc32", headers=head)
    assert told.headers["x-amz-checksum-crc32"] == crc32(body)
    wrong = {"x-amz-content-sha256": hashlib.sha256(b"other").hexdigest()}
    refused = bare(endpoint, "PUT", f"/{bucket}/bad", body, wrong)
    assert "<Code>XAmzContentSHA256Mismatch</Code>" in refused.text
    with pytest.raises(ClientError):
        s3.head_object(Bucket=bucket, Key="bad")


def chunked(body, trailer, size=5):
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    text = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return text + b"0\r\n" + trailer + b"\r\n\r\n"


def test_chunks_with_a_trailing_checksum(endpoint, s3, bucket):
    body = b"hello world, in pieces"
    headers = {
        "Content-Encoding": "gzip,aws-chunked",
        "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "x-amz-decoded-content-length": str(len(body)),
        "x-amz-trailer": "x-amz-checksum-crc32",
    }
    good = chunked(body, b"x-amz-checksum-crc32:" + crc32(body).encode())
    assert bare(endpoint, "PUT", f"/{bucket}/k", good, headers).status == 200
    got = s3.get_object(Bucket=bucket, Key="k")
    assert got["Body"].read() == body
    assert got["ContentEncoding"] == "gzip"
    bad = chunked(body, b"x-amz-checksum-crc32:" + crc32(b"other").encode())
    refused = bare(endpoint, "PUT", f"/{bucket}/k", bad, headers)
    assert "<Code>BadDigest</Code>" in refused.text
    # Chunked by HTTP too, as SDKs send streams.
    streamed = bare(endpoint, "PUT", f"/{bucket}/s", iter([good[:9], good[9:]]), headers)
    assert streamed.status == 200, streamed.text
    assert s3.get_object(Bucket=bucket, Key="s")["Body"].read() == body


def test_tags_of_a_bucket(s3, bucket):
    with pytest.raises(ClientError) as failure:
        s3.get_bucket_tagging(Bucket=bucket)
    assert code_of(failure) == "NoSuchTagSet"
    tags = [{"Key": "team", "Value": "<a & b>"}, {"Key": "z", "Value": ""}]
    s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags})
    assert s3.get_bucket_tagging(Bucket=bucket)["TagSet"] == tags
    s3.delete_bucket_tagging(Bucket=bucket)
    with pytest.raises(ClientError):
        s3.get_bucket_tagging(Bucket=bucket)


def test_settings_that_nobody_made(s3, bucket):
    """What Terraform reads of every bucket, each time."""
    unset = {
        "get_bucket_policy": "NoSuchBucketPolicy",
        "get_bucket_cors": "NoSuchCORSConfiguration",
        "get_bucket_website": "NoSuchWebsiteConfiguration",
        "get_bucket_lifecycle_configuration": "NoSuchLifecycleConfiguration",
        "get_bucket_replication": "ReplicationConfigurationNotFoundError",
        "get_bucket_encryption": "ServerSideEncryptionConfigurationNotFoundError",
        "get_object_lock_configuration": "ObjectLockConfigurationNotFoundError",
    }
    for call, code in unset.items():
        with pytest.raises(ClientError) as failure:
            getattr(s3, call)(Bucket=bucket)
        assert code_of(failure) == code
    assert "Status" not in s3.get_bucket_versioning(Bucket=bucket)
    assert s3.get_bucket_request_payment(Bucket=bucket)["Payer"] == "BucketOwner"
    assert s3.get_bucket_acl(Bucket=bucket)["Grants"][0]["Permission"] == "FULL_CONTROL"
    s3.get_bucket_logging(Bucket=bucket)
    s3.get_bucket_accelerate_configuration(Bucket=bucket)


def test_the_rest_is_not_implemented(s3, bucket):
    for call in (
        lambda: s3.put_bucket_versioning(
            Bucket=bucket, VersioningConfiguration={"Status": "Enabled"}
        ),
        lambda: s3.list_object_versions(Bucket=bucket),
        lambda: s3.get_object_acl(Bucket=bucket, Key="k"),
    ):
        with pytest.raises(ClientError) as failure:
            call()
        assert code_of(failure) == "NotImplemented"
        assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 501


def test_objects_come_in_parts(s3, bucket):
    begun = s3.create_multipart_upload(
        Bucket=bucket, Key="big", ContentType="text/plain", Metadata={"colour": "blue"}
    )
    upload = {"Bucket": bucket, "Key": "big", "UploadId": begun["UploadId"]}
    assert [one["Key"] for one in s3.list_multipart_uploads(Bucket=bucket)["Uploads"]] == ["big"]
    etags = {
        number: s3.upload_part(PartNumber=number, Body=body, **upload)["ETag"]
        for number, body in ((2, b"world"), (1, b"gone"), (1, b"hello "))
    }
    listed = s3.list_parts(**upload)["Parts"]
    assert [(one["PartNumber"], one["Size"], one["ETag"]) for one in listed] == [
        (1, 6, etags[1]), (2, 5, etags[2]),
    ]  # fmt: skip
    parts = [{"PartNumber": number, "ETag": etags[number]} for number in (1, 2)]

    def complete(chosen):
        return s3.complete_multipart_upload(MultipartUpload={"Parts": chosen}, **upload)

    for wrong, code in (
        (parts[::-1], "InvalidPartOrder"),
        ([{"PartNumber": 3, "ETag": etags[1]}], "InvalidPart"),
        ([{"PartNumber": 1, "ETag": etags[2]}], "InvalidPart"),
    ):
        with pytest.raises(ClientError) as failure:
            complete(wrong)
        assert code_of(failure) == code
    complete(parts)
    got = s3.get_object(Bucket=bucket, Key="big")
    assert got["Body"].read() == b"hello world"
    assert (got["ContentType"], got["Metadata"]) == ("text/plain", {"colour": "blue"})
    with pytest.raises(ClientError) as failure:
        s3.list_parts(**upload)
    assert code_of(failure) == "NoSuchUpload"


def test_an_upload_can_be_given_up(s3, bucket):
    begun = s3.create_multipart_upload(Bucket=bucket, Key="k")
    upload = {"Bucket": bucket, "Key": "k", "UploadId": begun["UploadId"]}
    s3.upload_part(PartNumber=1, Body=b"x", **upload)
    with pytest.raises(ClientError) as failure:
        s3.upload_part(PartNumber=1, Body=b"x", **{**upload, "Key": "other"})
    assert code_of(failure) == "NoSuchUpload"
    s3.abort_multipart_upload(**upload)
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket)


def test_large_files_travel_in_parts_by_themselves(s3, bucket, tmp_path):
    path = tmp_path / "large"
    path.write_bytes(os.urandom(9 << 20))
    s3.upload_file(str(path), bucket, "large")
    s3.download_file(bucket, "large", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == path.read_bytes()


def test_presigned_links(endpoint, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"shared")
    for version in ("s3v4", "s3"):
        client = boto3.client(
            "s3", endpoint_url=endpoint, region_name="us-east-1", **KEYS,
            config=Config(signature_version=version, s3={"addressing_style": "path"}),
        )  # fmt: skip
        link = client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"})
        parts = urllib.parse.urlsplit(link)
        answer = bare(endpoint, "GET", f"{parts.path}?{parts.query}")
        assert (answer.status, answer.text) == (200, "shared"), version


def test_queues_are_still_queues(endpoint, json_api):
    """What looks like an object's path and is not."""
    assert bare(endpoint, "GET", "/health").status == 200
    url = json_api.CreateQueue(QueueName=unique_name("q"))["QueueUrl"]
    path = urllib.parse.urlsplit(url).path
    answer = bare(endpoint, "GET", f"{path}?Action=GetQueueAttributes&Version=2012-11-05")
    assert "GetQueueAttributesResponse" in answer.text
    json_api.DeleteQueue(QueueUrl=url)


@pytest.mark.skipif(not os.path.exists("/usr/bin/aws"), reason="awscli is not installed")
def test_awscli(endpoint, bucket, tmp_path):
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1", "AWS_PAGER": "",
    }  # fmt: skip

    def aws(*arguments):
        command = ["/usr/bin/aws", "--endpoint-url", endpoint, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "dir").mkdir()
    for name in ("one.txt", "two.txt"):
        (tmp_path / "dir" / name).write_text(name)
    aws("s3", "cp", str(tmp_path / "dir"), f"s3://{bucket}/in/", "--recursive", "--quiet")
    assert "one.txt" in aws("s3", "ls", f"s3://{bucket}/in/")
    assert aws("s3", "cp", f"s3://{bucket}/in/two.txt", "-") == "two.txt"
    aws("s3", "mv", f"s3://{bucket}/in/two.txt", f"s3://{bucket}/out/two.txt", "--quiet")
    assert "out/two.txt" in aws("s3", "ls", f"s3://{bucket}/", "--recursive")
    aws("s3", "rm", f"s3://{bucket}/", "--recursive", "--quiet")


own_server = pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server")


@own_server
@pytest.mark.own_server
def test_objects_outlive_a_kill(launch, tmp_path):
    data = str(tmp_path / "data")
    server = launch("--data", data)
    s3 = s3_client(server.endpoint)
    s3.create_bucket(Bucket="kept")
    s3.put_object(Bucket="kept", Key="a/b", Body=b"x" * (9 << 20), Metadata={"m": "1"})
    server.kill()
    left = tmp_path / "data/objects/buckets/kept/77-1.part"
    left.write_bytes(b"half")
    s3 = s3_client(launch("--data", data).endpoint)
    got = s3.get_object(Bucket="kept", Key="a/b")
    assert (len(got["Body"].read()), got["Metadata"]) == (9 << 20, {"m": "1"})
    assert not left.exists()


@own_server
@pytest.mark.own_server
def test_sizes_are_limited(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text("[limits]\nobject-bytes = 1000\n")
    s3 = s3_client(launch("--memory", "--config", str(config)).endpoint)
    s3.create_bucket(Bucket="small")
    s3.put_object(Bucket="small", Key="k", Body=b"x" * 1000)
    with pytest.raises(ClientError) as failure:
        s3.put_object(Bucket="small", Key="k", Body=b"x" * 1001)
    assert code_of(failure) == "EntityTooLarge"


@own_server
@pytest.mark.own_server
def test_keys_guard_buckets(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    roles = {"ADMIN": "admin", "OPERATOR": "operator", "READER": "reader", "SENDER": "producer"}
    text = "".join(
        f"[[key]]\nid = '{key}'\nsecret = 'secret{key}'\nrole = '{role}'\n"
        for key, role in roles.items()
    )
    text += "[[key]]\nid = 'OTHER'\nsecret = 'secretOTHER'\nrole = 'admin'\nqueues = ['else*']\n"
    config.write_text(text)
    endpoint = launch("--memory", "--config", str(config)).endpoint

    def who(key, secret=None):
        return s3_client(
            endpoint, aws_access_key_id=key, aws_secret_access_key=secret or f"secret{key}"
        )

    who("ADMIN").create_bucket(Bucket="guarded")
    who("OPERATOR").put_object(Bucket="guarded", Key="a b", Body=b"x")
    assert who("READER").get_object(Bucket="guarded", Key="a b")["Body"].read() == b"x"
    refused = [
        ("OPERATOR", "delete_bucket", {}, "AccessDenied"),
        ("READER", "put_object", {"Key": "k", "Body": b""}, "AccessDenied"),
        ("SENDER", "get_object", {"Key": "a b"}, "AccessDenied"),
        ("OTHER", "get_object", {"Key": "a b"}, "AccessDenied"),
        ("NOBODY", "get_object", {"Key": "a b"}, "InvalidAccessKeyId"),
    ]
    for key, call, arguments, code in refused:
        with pytest.raises(ClientError) as failure:
            getattr(who(key), call)(Bucket="guarded", **arguments)
        assert code_of(failure) == code, (key, call)
    with pytest.raises(ClientError) as failure:
        who("ADMIN", "wrong").get_object(Bucket="guarded", Key="a b")
    assert code_of(failure) == "SignatureDoesNotMatch"
    assert who("OTHER").list_buckets()["Buckets"] == []
    unsigned = bare(endpoint, "GET", "/guarded/a%20b")
    assert unsigned.status == 403
    source = {"Bucket": "guarded", "Key": "a b"}
    who("OTHER").create_bucket(Bucket="elsewhere")
    with pytest.raises(ClientError) as failure:
        who("OTHER").copy_object(Bucket="elsewhere", Key="stolen", CopySource=source)
    assert code_of(failure) == "AccessDenied"


def signed_chunks(endpoint, key, body, tamper=False):
    """PUT with STREAMING-AWS4-HMAC-SHA256-PAYLOAD, signed here step by step."""
    secret, region, now = f"secret{key}", "us-east-1", datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    scope = f"{day}/{region}/s3/aws4_request"
    digest = lambda data: hashlib.sha256(data).hexdigest()  # noqa: E731
    sign = lambda k, text: hmac.new(k, text.encode(), hashlib.sha256)  # noqa: E731
    signing = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        signing = sign(signing, part).digest()
    headers = {
        "content-encoding": "aws-chunked",
        "host": urllib.parse.urlsplit(endpoint).netloc,
        "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        "x-amz-date": stamp,
        "x-amz-decoded-content-length": str(len(body)),
    }
    names = ";".join(sorted(headers))
    canonical = "\n".join(
        ["PUT", "/guarded/chunks", ""]
        + [f"{name}:{headers[name]}" for name in sorted(headers)]
        + ["", names, headers["x-amz-content-sha256"]]
    )
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, digest(canonical.encode())])
    signature = sign(signing, text).hexdigest()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    sent = b""
    for chunk in (body[:7], body[7:], b""):
        text = "\n".join(
            ["AWS4-HMAC-SHA256-PAYLOAD", stamp, scope, signature, digest(b""), digest(chunk)]
        )
        signature = sign(signing, text).hexdigest()
        travels = chunk.upper() if tamper else chunk
        sent += f"{len(chunk):x};chunk-signature={signature}\r\n".encode() + travels + b"\r\n"
    return bare(endpoint, "PUT", "/guarded/chunks", sent, headers)


@own_server
@pytest.mark.own_server
def test_signed_chunks_are_proven_one_by_one(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text("[[key]]\nid = 'ADMIN'\nsecret = 'secretADMIN'\nrole = 'admin'\n")
    endpoint = launch("--memory", "--config", str(config)).endpoint
    admin = s3_client(endpoint, aws_access_key_id="ADMIN", aws_secret_access_key="secretADMIN")
    admin.create_bucket(Bucket="guarded")
    done = signed_chunks(endpoint, "ADMIN", b"hello world, in pieces")
    assert done.status == 200, done.text
    got = admin.get_object(Bucket="guarded", Key="chunks")["Body"].read()
    assert got == b"hello world, in pieces"
    refused = signed_chunks(endpoint, "ADMIN", b"hello world, in pieces", tamper=True)
    assert refused.status == 403 and "SignatureDoesNotMatch" in refused.text
    assert admin.get_object(Bucket="guarded", Key="chunks")["Body"].read() == got


@own_server
@pytest.mark.own_server
def test_changes_are_written_down(launch, tmp_path):
    log = tmp_path / "data/audit.ndjson"
    s3 = s3_client(launch("--data", str(tmp_path / "data")).endpoint)
    s3.create_bucket(Bucket="audited")
    s3.put_object(Bucket="audited", Key="a b", Body=b"secret")
    s3.get_object(Bucket="audited", Key="a b")
    with pytest.raises(ClientError):
        s3.delete_bucket(Bucket="audited")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    told = [(line["action"], line["outcome"], line["resource"]) for line in lines]
    assert told == [
        ("CreateBucket", "done", "audited"),
        ("PutObject", "done", "audited/a b"),
        ("DeleteBucket", "BucketNotEmpty", "audited"),
    ]
    assert "secret" not in log.read_text()


@own_server
@pytest.mark.own_server
def test_a_reset_takes_buckets_too(launch):
    endpoint = launch("--memory").endpoint
    s3 = s3_client(endpoint)
    s3.create_bucket(Bucket="passing")
    s3.put_object(Bucket="passing", Key="k", Body=b"x")
    assert Management(endpoint).reset() == {"queues": 0, "buckets": 1}
    assert s3.list_buckets()["Buckets"] == []
    s3.create_bucket(Bucket="passing")
    assert "Contents" not in s3.list_objects_v2(Bucket="passing")
