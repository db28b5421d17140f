# The topology of a team that moves from AWS: a queue whose failures go to a dead-letter queue, a
# function that works it off, the role and policies it would need there, an archive bucket.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "endpoint" { type = string }
variable "timeout" {
  type    = number
  default = 10
}
# Which services the server has is for the runner to say.
variable "with_lambda" {
  type    = bool
  default = true
}
variable "with_alarm" {
  type    = bool
  default = true
}

provider "aws" {
  region            = "us-east-1"
  access_key        = "test"
  secret_key        = "test"
  s3_use_path_style = true
  endpoints {
    sqs        = var.endpoint
    iam        = var.endpoint
    sts        = var.endpoint
    s3         = var.endpoint
    lambda     = var.endpoint
    cloudwatch = var.endpoint
  }
}

resource "aws_sqs_queue" "main" {
  name                       = "main-queue"
  delay_seconds              = 0
  max_message_size           = 262144
  message_retention_seconds  = 345600
  visibility_timeout_seconds = 30
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dlq.arn
    maxReceiveCount     = 3
  })
  tags = { Environment = "production" }
}

resource "aws_sqs_queue" "dlq" {
  name                      = "dlq"
  max_message_size          = 262144
  message_retention_seconds = 1209600 # 14 days
  tags                      = { Environment = "production" }
}

resource "aws_iam_role" "lambda" {
  name = "lambda_role"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Action    = "sts:AssumeRole"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
  tags = { Environment = "production" }
}

resource "aws_iam_role_policy_attachment" "sqs" {
  role       = aws_iam_role.lambda.name
  policy_arn = "arn:aws:iam::aws:policy/AmazonSQSFullAccess"
}

resource "aws_iam_role_policy_attachment" "basic" {
  role       = aws_iam_role.lambda.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_iam_role_policy" "inline" {
  name   = "read-main"
  role   = aws_iam_role.lambda.id
  policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

resource "aws_iam_policy" "own" {
  name = "own"
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Action = "sqs:*", Effect = "Allow", Resource = "*" }]
  })
}

resource "aws_iam_role_policy_attachment" "own" {
  role       = aws_iam_role.lambda.name
  policy_arn = aws_iam_policy.own.arn
}

resource "aws_s3_bucket" "archive" {
  bucket = "terraform-archive"
  tags   = { Environment = "production" }
}

resource "aws_lambda_function" "processor" {
  for_each         = var.with_lambda ? { python = "python3.11", node = "nodejs20.x" } : {}
  function_name    = "sqs-processor-${each.key}"
  handler          = "index.handler"
  runtime          = each.value
  role             = aws_iam_role.lambda.arn
  timeout          = var.timeout
  filename         = "${path.module}/${each.key}.zip"
  source_code_hash = filebase64sha256("${path.module}/${each.key}.zip")
  environment {
    variables = { QUEUE_URL = aws_sqs_queue.main.id }
  }
}

resource "aws_lambda_event_source_mapping" "main" {
  count            = var.with_lambda ? 1 : 0
  event_source_arn = aws_sqs_queue.main.arn
  function_name    = aws_lambda_function.processor["python"].arn
  batch_size       = 10
}

resource "aws_cloudwatch_metric_alarm" "dead_letters" {
  count               = var.with_alarm ? 1 : 0
  alarm_name          = "dlq-not-empty"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.dlq.name }
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 1
}

output "queue_url" { value = aws_sqs_queue.main.id }
